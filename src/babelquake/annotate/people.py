"""Who may do what: one long random token per annotator, and one for whoever runs the project.

The file keeps hashes only, so nobody can become an annotator by reading it; a lost link is replaced, not looked up.
"""

import hashlib
import hmac
import secrets
import sqlite3
import time
from dataclasses import dataclass

from babelquake.annotate.project import Project
from babelquake.errors import UserError

TOKEN_BYTES = 32
TRAINING = "training"
LONGEST_NAME = 80
ADMIN, SESSION = "admin", "session"
RENEWED = 20
"""A session is replaced by a new one after this part of its life."""


@dataclass(frozen=True)
class Annotator:
    """Somebody who may rate."""

    id: int
    name: str


def add_annotator(project: Project, name: str) -> str:
    """Invite somebody: their token, which is shown this once. Their training items wait for them."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UserError(f"'{name[:LONGEST_NAME]}' is not a name: use 1 to {LONGEST_NAME} printable characters.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with project.writing() as database:
        try:
            row = database.execute(
                "INSERT INTO annotators (name, token, created) VALUES (?, ?, ?)", (name, _hashed(token), time.time())
            )
        except sqlite3.IntegrityError:
            raise UserError(f"an annotator called '{name}' already exists.") from None
        _own_training(database, int(row.lastrowid or 0))
    return token


def _own_training(database: sqlite3.Connection, annotator: int) -> None:
    """A copy of the training items for one annotator; the first copy is the pattern and belongs to nobody."""
    pattern = database.execute("SELECT id FROM tasks WHERE hit = ? AND copy = 0", (TRAINING,)).fetchone()
    if pattern is None:
        return
    task = database.execute(
        "INSERT INTO tasks (hit, copy, annotator, assigned) VALUES (?, ?, ?, ?)",
        (TRAINING, annotator, annotator, time.time()),
    ).lastrowid
    _copy_items(database, pattern["id"], task)


def new_token(project: Project, name: str) -> str:
    """Another link for an annotator; the old one stops working."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with project.writing() as database:
        _known(database, name)
        database.execute("UPDATE annotators SET token = ?, revoked = NULL WHERE name = ?", (_hashed(token), name))
    return token


def revoke(project: Project, name: str) -> None:
    """Shut somebody out at once. Their ratings stay; an unfinished task is given out again, from its beginning."""
    with project.writing() as database:
        annotator = _known(database, name)
        database.execute("UPDATE annotators SET revoked = ? WHERE id = ?", (time.time(), annotator))
        unfinished = database.execute(
            "SELECT id FROM tasks WHERE annotator = ? AND finished IS NULL AND withdrawn IS NULL AND hit != ?",
            (annotator, TRAINING),
        ).fetchall()
        for task in unfinished:
            give_out_again(database, task["id"])


def give_out_again(database: sqlite3.Connection, task: int) -> None:
    """Withdraw a task and put an empty copy of it in its place, for somebody else."""
    database.execute("UPDATE tasks SET withdrawn = ? WHERE id = ?", (time.time(), task))
    copy = database.execute(
        "INSERT INTO tasks (hit, copy) SELECT hit, (SELECT max(copy) + 1 FROM tasks other WHERE other.hit = tasks.hit) "
        "FROM tasks WHERE id = ?",
        (task,),
    ).lastrowid
    _copy_items(database, task, copy)


def _copy_items(database: sqlite3.Connection, task: int, into: int | None) -> None:
    database.execute(
        "INSERT INTO items (task, place, tuple, type, texts, sides, suggestions, suggested) "
        "SELECT ?, place, tuple, type, texts, sides, suggestions, suggested FROM items WHERE task = ?",
        (into, task),
    )


def annotator_of(project: Project, token: str) -> Annotator | None:
    """Whose token this is; nobody's once it is revoked."""
    row = project.database.execute(
        "SELECT id, name FROM annotators WHERE token = ? AND revoked IS NULL", (_hashed(token),)
    ).fetchone()
    return None if row is None else Annotator(row["id"], row["name"])


def session_of(project: Project, token: str, admin: bool = False) -> str | None:
    """What a browser keeps instead of an invitation: who it is, since when, and a signature. None for a wrong token.

    It says nothing about the invitation, ends when that is replaced or revoked, and grows old.
    """
    if admin:
        return _session(project, ADMIN) if is_admin(project, token) else None
    found = annotator_of(project, token)
    return None if found is None else _session(project, str(found.id))


def renewed(project: Project, session: str, lasting: float) -> str | None:
    """Another session for one that has got on in years; None where it is young, or not valid."""
    who, since, _ = _parts(session)
    if time.time() - since < lasting / RENEWED or not valid_session(project, session, lasting):
        return None
    return _session(project, who)


def valid_session(project: Project, session: str, lasting: float) -> bool:
    """Whether we made this session, its invitation still stands, and it is no older than so many seconds."""
    who, since, signature = _parts(session)
    invitation = _invitation(project, who)
    fresh = -60 <= time.time() - since <= lasting
    return invitation is not None and fresh and signed(_secret(project), signature, SESSION, who, since, invitation)


def annotator_in(project: Project, session: str, lasting: float) -> Annotator | None:
    """Whose session this is."""
    who, _, _ = _parts(session)
    if who == ADMIN or not valid_session(project, session, lasting):
        return None
    row = project.database.execute("SELECT id, name FROM annotators WHERE id = ?", (int(who),)).fetchone()
    return Annotator(row["id"], row["name"])


def sign(secret: str, *parts: object) -> str:
    """A signature only this project can make; what it covers cannot be changed or used elsewhere."""
    text = "\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def signed(secret: str, signature: str, *parts: object) -> bool:
    """Whether a signature covers these parts."""
    return hmac.compare_digest(sign(secret, *parts).encode(), signature.encode("utf-8", "surrogatepass"))


def _session(project: Project, who: str) -> str:
    since = int(time.time())
    return f"{who}.{since}.{sign(_secret(project), SESSION, who, since, _invitation(project, who))}"


def _parts(session: str) -> tuple[str, int, str]:
    who, _, rest = session.partition(".")
    since, _, signature = rest.partition(".")
    known = (who == ADMIN or is_number(who)) and is_number(since)
    return (who, int(since), signature) if known else ("", 0, "")


def is_number(text: str) -> bool:
    """Whether a text is the number of something in the project, as sent by a browser."""
    return text.isascii() and text.isdecimal() and len(text) < 16


def _invitation(project: Project, who: str) -> str | None:
    """The hash of the token that lets somebody in, so that a session ends with it."""
    if who == ADMIN:
        admin = project.setting("admin")
        return None if admin is None else str(admin)
    if not who:
        return None
    query = "SELECT token FROM annotators WHERE id = ? AND revoked IS NULL"
    row = project.database.execute(query, (int(who),)).fetchone()
    return None if row is None else str(row["token"])


def _secret(project: Project) -> str:
    return str(project.setting("secret"))


def new_admin_token(project: Project) -> str:
    """A token for whoever runs the project; an older one stops working."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    project.set("admin", _hashed(token))
    return token


def is_admin(project: Project, token: str) -> bool:
    """Whether this is the admin's token."""
    return hmac.compare_digest(str(project.setting("admin") or ""), _hashed(token))


def _known(database: sqlite3.Connection, name: str) -> int:
    row = database.execute("SELECT id FROM annotators WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise UserError(f"no annotator is called '{name}'.")
    return int(row["id"])


def _hashed(token: str) -> str:
    """A token has 256 random bits: one hash is enough, and two of them compare equal without telling anything."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
