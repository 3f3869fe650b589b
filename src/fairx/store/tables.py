"""The tables, the same in SQLite and in PostgreSQL. Rows of the log are added, never changed.

`decisions`, `shown`, `rewards`, `arms` and `matured` are the event log, `seals` has sums over it; `statistics` is its fold, and
`snapshots` says what the fold was at each version. `waiting` holds the decisions that are not
mature; a row of it is also what a reward and the fold lock, so that neither misses the other.

Two columns have older names than the code: `arms.place` is an arm's number, `decisions.slot` the
position of the arm among the candidates.

A slate has one row of `decisions` for each of its places, with the place, its weight and the arm's
propensity there; of a single decision these are NULL. What all places share is in the row of the first:
`probabilities` has the exposures of all candidates, `contexts` those of all; the others have an empty text
of bytes and the context of their own arm.

Of long lists `candidates` and `probabilities` have a digest (`compact`); `pools` has the candidates.

`archives` names the files of what was archived, `archived` the decisions in them, `archived_arms` what was
counted of them, arm by arm (`fairx.store.archives`).
"""

from __future__ import annotations

from fairx.errors import BrokenFile

from .database import Database

VERSION = "5"

TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS experiments (
  id {serial}, name TEXT NOT NULL, settings TEXT NOT NULL, status TEXT NOT NULL,
  created {real} NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS experiments_name ON experiments (name) WHERE status <> 'deleted';
CREATE TABLE IF NOT EXISTS arms (
  experiment {whole} NOT NULL, version {whole} NOT NULL, place {whole} NOT NULL, name TEXT NOT NULL,
  status TEXT NOT NULL, PRIMARY KEY (experiment, version, place)
);
CREATE TABLE IF NOT EXISTS decisions (
  sequence {serial}, id TEXT NOT NULL UNIQUE, experiment {whole} NOT NULL, time {real} NOT NULL,
  snapshot {whole} NOT NULL, arm {whole} NOT NULL, slot {whole} NOT NULL,
  candidates {bytes}, probabilities {bytes} NOT NULL, contexts {bytes},
  unit TEXT, asked {bytes} NOT NULL, due {real} NOT NULL, erased {real},
  place {whole}, weight {real}, propensity {real}
);
CREATE INDEX IF NOT EXISTS decisions_snapshot ON decisions (experiment, snapshot);
CREATE INDEX IF NOT EXISTS decisions_unit ON decisions (experiment, unit) WHERE unit IS NOT NULL;
CREATE TABLE IF NOT EXISTS pools (digest {bytes} PRIMARY KEY, candidates {bytes} NOT NULL);
CREATE TABLE IF NOT EXISTS waiting (
  sequence {whole} PRIMARY KEY, experiment {whole} NOT NULL, due {real} NOT NULL
);
CREATE INDEX IF NOT EXISTS waiting_due ON waiting (experiment, due);
CREATE TABLE IF NOT EXISTS shown (
  decision TEXT PRIMARY KEY, experiment {whole} NOT NULL, late {whole} NOT NULL,
  time {real} NOT NULL
);
CREATE TABLE IF NOT EXISTS rewards (
  decision TEXT NOT NULL, id TEXT NOT NULL, experiment {whole} NOT NULL, value {real} NOT NULL,
  final {whole} NOT NULL, late {whole} NOT NULL, time {real} NOT NULL, PRIMARY KEY (decision, id)
);
CREATE TABLE IF NOT EXISTS matured (
  experiment {whole} NOT NULL, number {whole} NOT NULL, sequence {whole} NOT NULL UNIQUE,
  reward {real}, rewards {whole} NOT NULL, time {real} NOT NULL, PRIMARY KEY (experiment, number)
);
CREATE TABLE IF NOT EXISTS statistics (
  experiment {whole} PRIMARY KEY, version {whole} NOT NULL, watermark {whole} NOT NULL,
  body {bytes} NOT NULL
);
CREATE TABLE IF NOT EXISTS snapshots (
  experiment {whole} NOT NULL, version {whole} NOT NULL, watermark {whole} NOT NULL,
  digest TEXT NOT NULL, time {real} NOT NULL, PRIMARY KEY (experiment, version)
);
CREATE TABLE IF NOT EXISTS checkpoints (
  experiment {whole} NOT NULL, watermark {whole} NOT NULL, body {bytes} NOT NULL,
  PRIMARY KEY (experiment, watermark)
);
CREATE TABLE IF NOT EXISTS tokens (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, experiment TEXT,
  digest TEXT NOT NULL, created {real} NOT NULL, revoked {real}
);
CREATE TABLE IF NOT EXISTS token_ends (id TEXT PRIMARY KEY, expires {real} NOT NULL);
CREATE TABLE IF NOT EXISTS actions (
  id {serial}, time {real} NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
  experiment TEXT, detail TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS seals (
  experiment {whole} NOT NULL, kind TEXT NOT NULL, writer TEXT NOT NULL, lines {whole} NOT NULL,
  nonce {bytes} NOT NULL, value {bytes} NOT NULL, PRIMARY KEY (experiment, kind, writer)
);
"""
# New in version 5. A connection that only reads an older store sees them empty.
ARCHIVES = {
    "archives": (
        "experiment {whole} NOT NULL, kind TEXT NOT NULL, upto {whole} NOT NULL, version {whole} NOT NULL, "
        "file TEXT NOT NULL, digest TEXT NOT NULL, lines {whole} NOT NULL, nonce {bytes} NOT NULL, "
        "value {bytes} NOT NULL, time {real} NOT NULL, PRIMARY KEY (experiment, kind, upto)"
    ),
    "archived": "id TEXT PRIMARY KEY, experiment {whole} NOT NULL",
    "archived_arms": (
        "experiment {whole} NOT NULL, arm {whole} NOT NULL, decisions {whole} NOT NULL, weight {real} NOT NULL, "
        "weighted {whole} NOT NULL, mature {whole} NOT NULL, rewarded {whole} NOT NULL, rewards {whole} NOT NULL, "
        "late {whole} NOT NULL, audited {whole} NOT NULL, candidacies {whole} NOT NULL, PRIMARY KEY (experiment, arm)"
    ),
}


# What a store of an older version lacks, and what a connection that only reads sees in its stead.
UPGRADES = {
    "1": (
        "ALTER TABLE decisions ADD COLUMN place {whole}",
        "ALTER TABLE decisions ADD COLUMN weight {real}",
        "ALTER TABLE decisions ADD COLUMN propensity {real}",
    ),
    # A final reward no longer matures its decision. The table of seals is there by now.
    "2": (
        "UPDATE waiting SET due = (SELECT d.due FROM decisions d WHERE d.sequence = waiting.sequence)",
    ),
    # The table of pools is there by now; long lists that are on record stay as they are.
    "3": (),
    # The tables of what is archived are there by now.
    "4": (),
}
DECISIONS_OF_1 = (
    "CREATE TEMP VIEW decisions AS SELECT *, CAST(NULL AS {whole}) AS place, "
    "CAST(NULL AS {real}) AS weight, CAST(NULL AS {real}) AS propensity FROM {main}decisions"
)
VERSION_OF = "SELECT value FROM meta WHERE name = 'version'"


def set_up(database: Database, types: dict[str, str]) -> None:
    """Create the tables, or add what those of an older version lack; in a transaction."""
    for part in filter(None, map(str.strip, TABLES.format(**types).split(";"))):
        database.rows(part)
    for name, columns in ARCHIVES.items():
        database.rows(f"CREATE TABLE IF NOT EXISTS {name} ({columns}){{rowless}}".format(**types))
    insert = "INSERT INTO meta VALUES ('version', ?) ON CONFLICT DO NOTHING"
    database.rows(insert, (VERSION,))
    ((found,),) = database.rows(VERSION_OF)
    if found in UPGRADES:
        for version in range(int(found), int(VERSION)):
            for statement in UPGRADES[str(version)]:
                database.rows(statement.format(**types))
        database.rows("UPDATE meta SET value = ? WHERE name = 'version'", (VERSION,))
    elif found != VERSION:
        raise BrokenFile(
            f"the store must have version {VERSION}, not {found}: it needs another fairx (see Upgrade)"
        )


def stand_in(database: Database, types: dict[str, str], main: str) -> None:
    """Let a connection that only reads see a store of an older version as one of today's."""
    for (found,) in database.rows(VERSION_OF):
        if found == "1":
            database.rows(DECISIONS_OF_1.format(main=main, **types))
        if found in UPGRADES:
            for name, columns in ARCHIVES.items():
                database.rows(f"CREATE TEMP TABLE {name} ({columns})".format(**types))
