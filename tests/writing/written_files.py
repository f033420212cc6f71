"""A kind of file, and how it is written."""

from pegasos_stats.writing import Kind, checked_place, outputs

NOTE = Kind("note", lambda handle: handle.read(4) == b"note")
PIPED = Kind("note", NOTE.known, streams=True)
EARLIER = b"note: the earlier one"


def write(path, text="note: new", kind=NOTE, **options):
    with outputs() as files:
        files.write(checked_place(path, kind, **options), text)


def write_while(path, meanwhile):
    """Write a file; something else happens before it is put in its place."""
    with outputs() as files:
        files.write(checked_place(path, NOTE), "note: new")
        meanwhile()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}
