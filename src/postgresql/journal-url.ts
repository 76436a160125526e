// The address of the PostgreSQL servers that hold the log, as PAYMENTS_JOURNAL_URL gives it: a
// libpq URL with several hosts. The password comes from its own file, or from PGPASSWORD.

export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

export interface JournalAddress {
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly database: string;
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
