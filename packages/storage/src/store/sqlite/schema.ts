/**
 * What brings a database from version n to n + 1, by n. What was released is never changed, only added to.
 *
 * - `scope`: a stream part, or one publisher in it. What is in a scope is found without looking at anything else.
 * - `chain`: a message chain; within `oldest` and `newest` (publisher's time) is all of it.
 * - `batch`: the batches as they were published.
 * - `entry`: where they are in their two scopes, apart by how long they last (see `widthMsByLevel`). Narrow, so that
 *   counting back over many messages reads little; a table of its own order, without row ids.
 * - `card`: a card for each user.
 * - `newest`: in which batch of a stream part the newest message of a key is.
 * - `delegation`: those that batches of a stream part name, by the hour in which the batches begin (see `periodOf`), and by how many; null
 *   where some were stored before that was counted.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    part TEXT NOT NULL,
    publisher TEXT NOT NULL,
    batches INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (part, publisher)
  ) STRICT;
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    part_scope INTEGER NOT NULL,
    publisher_scope INTEGER NOT NULL,
    publisher TEXT NOT NULL,
    name TEXT NOT NULL,
    batches INTEGER NOT NULL DEFAULT 0,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL,
    UNIQUE (publisher_scope, name)
  ) STRICT;
  CREATE TABLE batch (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE entry (
    scope INTEGER NOT NULL,
    level INTEGER NOT NULL,
    first_time INTEGER NOT NULL,
    first_number INTEGER NOT NULL,
    last_time INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    PRIMARY KEY (scope, level, first_time, first_number, last_time, last_number, chain)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  // Batches that last longer than a batch may (levels 5 to 8) can no longer be decoded.
  `
  DELETE FROM batch WHERE id IN (SELECT batch FROM entry WHERE level > 4);
  UPDATE scope SET
    batches = batches - (SELECT count(*) FROM entry e WHERE e.scope = scope.id AND level > 4),
    messages = messages - (SELECT coalesce(sum(e.messages), 0) FROM entry e WHERE e.scope = scope.id AND level > 4),
    bytes = bytes - (SELECT coalesce(sum(e.bytes), 0) FROM entry e WHERE e.scope = scope.id AND level > 4);
  UPDATE chain SET batches = batches
    - (SELECT count(*) FROM entry e WHERE e.scope = chain.part_scope AND e.chain = chain.id AND level > 4);
  DELETE FROM entry WHERE level > 4;
  DELETE FROM chain WHERE batches = 0;
  DELETE FROM scope WHERE batches = 0;
  `,
  `
  CREATE TABLE delegation (
    scope INTEGER NOT NULL,
    period INTEGER NOT NULL,
    ref TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (scope, period, ref)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE card (user TEXT PRIMARY KEY, bytes BLOB NOT NULL, kept INTEGER NOT NULL, vouched INTEGER NOT NULL) STRICT;
  CREATE INDEX card_order ON card (vouched, kept);
  `,
  `
  CREATE TABLE newest (
    scope INTEGER NOT NULL,
    tag BLOB NOT NULL,
    time INTEGER NOT NULL,
    number INTEGER NOT NULL,
    publisher TEXT NOT NULL,
    batch INTEGER NOT NULL,
    PRIMARY KEY (scope, tag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX newest_batch ON newest (scope, batch);
  CREATE INDEX newest_time ON newest (scope, time);
  `,
  'ALTER TABLE delegation ADD COLUMN batches INTEGER',
]
