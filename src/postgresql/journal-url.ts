// Where PostgreSQL holds the log, as PAYMENTS_JOURNAL_URL gives it: the address of a database, a
// libpq URL with several hosts, or a list of those, each with the partitions whose logs it has. The
// password comes from its own file, or from PGPASSWORD.

export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

export interface JournalAddress {
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly database: string;
}

/** Partitions that follow each other; `last` is one of them. */
export interface PartitionRange {
  readonly first: number;
  readonly last: number;
}

/** A database, and the partitions whose logs it has; null: all. */
export interface ListedDatabase {
  readonly address: JournalAddress;
  readonly partitions: PartitionRange | null;
}

const listedPattern = /^(\d{1,6})-(\d{1,6})=(.+)$/;
const listExample = '0-15=postgresql://user@host-a/database 16-31=postgresql://user@host-b/database';

/** What is wrong with the setting, as the end of a sentence; or the databases that it names. */
export function parseJournalDatabases(setting: string): readonly ListedDatabase[] | string {
  const entries = setting.trim().split(/\s+/);
  const [only = ''] = entries;
  if (entries.length === 1 && !listedPattern.test(only)) {
    const address = parseJournalUrl(only);
    return typeof address === 'string' ? address : [{ address, partitions: null }];
  }
  const databases: ListedDatabase[] = [];
  for (const entry of entries) {
    const [, first, last, url] = listedPattern.exec(entry) ?? [];
    if (url === undefined) return `must have the form ${listExample} where it names several databases`;
    const partitions = { first: Number(first), last: Number(last) };
    const begins = (databases.at(-1)?.partitions?.last ?? -1) + 1;
    if (partitions.first !== begins || partitions.last < begins)
      return `has the partitions ${textOf(partitions)} where those from ${begins} on are to follow`;
    const address = parseJournalUrl(url);
    if (typeof address === 'string') return address;
    if (databases.some((other) => isSameDatabase(other.address, address)))
      return `names the database ${address.database} of the same servers twice`;
    databases.push({ address, partitions });
  }
  return databases;
}

/** Whether both are the same database. */
function isSameDatabase(one: JournalAddress, other: JournalAddress): boolean {
  return (
    one.database === other.database && one.hosts.some((a) => other.hosts.some((b) => nameOf(a) === nameOf(b)))
  );
}

export function textOf({ first, last }: PartitionRange): string {
  return `${first}-${last}`;
}

const pattern = /^postgres(?:ql)?:\/\/(?:([^:@/?#]+)@)?([^@/?#]+)\/([^/?#]+)$/;
const defaultPort = 5432;

/** What is wrong with the address, as the end of a sentence; or the address. */
export function parseJournalUrl(url: string): JournalAddress | string {
  const found = pattern.exec(url);
  if (found === null) {
    const example = 'postgresql://user@host-a:5432,host-b:5432/database';
    return /:[^@/]*@/.test(url.replace(/^[a-z]+:\/\//, ''))
      ? 'must not have a password: put it into journal.passwordFile, or set PGPASSWORD'
      : `must have the form ${example}`;
  }
  const [, user = 'payments', hostList = '', database = ''] = found;
  const hosts: PostgresHost[] = [];
  for (const text of hostList.split(',')) {
    const parts = /^(\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
    const port = Number(parts?.[2] ?? defaultPort);
    if (parts === null || port < 1 || port > 65_535)
      return `has the host ${JSON.stringify(text)}, which is none`;
    hosts.push({ host: String(parts[1]).replace(/^\[|\]$/g, ''), port });
  }
  return { hosts, user: decodeURIComponent(user), database: decodeURIComponent(database) };
}

export function nameOf({ host, port }: PostgresHost): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
