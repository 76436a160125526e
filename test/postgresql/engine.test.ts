// The engine of the log on PostgreSQL with its mirror, against a primary and a standby whose commits wait for each other.

import { after, before, type TestContext } from 'node:test';
import { systemTimers } from '../../src/core/scheduler.ts';
import { ReplicatedLog } from '../../src/journal/log/replicated-log.ts';
import { parseJournalUrl } from '../../src/postgresql/journal-url.ts';
import { PostgresLog } from '../../src/postgresql/partition-log.ts';
import { type EngineSubject, engineContract } from '../journal/engine-contract.ts';
import { identity } from '../journal/journal-fixtures.ts';
import { smallLog } from '../journal/small-log.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { leftOut, onlyDatabase, PostgresServers } from './servers.ts';

let servers: PostgresServers;
before(async () => {
  if (leftOut !== false) return;
  servers = new PostgresServers();
  await servers.start(1);
});
after(() => servers?.stop());

async function onPostgres(context: TestContext): Promise<EngineSubject> {
  const [primary, standby] = servers.all as [(typeof servers.all)[0], (typeof servers.all)[0]];
  const database = `d${Math.trunc(performance.now() * 1000)}`;
  await primary.query(`create database ${database} owner payments`);
  const address = parseJournalUrl(servers.url.replace(/payments$/, database));
  if (typeof address === 'string') throw new Error(address);
  const sql = (text: string) => primary.query(text, database);
  return {
    async open() {
      const dir = temporaryFolder(context);
      const { engine: mirror } = smallLog(dir);
      const remote = new PostgresLog({
        address,
        password: null,
        ca: null,
        ...onlyDatabase,
        timers: systemTimers,
        service: { folder: identity.folder, generation: identity.generation, shards: 2 },
        partition: identity.shard,
        lease: null,
        node: null,
        isSingle: false,
        onTrouble() {},
      });
      const engine = new ReplicatedLog(remote, mirror, identity);
      context.after(() => engine.close());
      return engine;
    },
    async hold() {
      standby.freeze();
      return async () => standby.thaw();
    },
    async loseAnswer(isStored) {
      // The server ends the connection: in the middle of the statement, or behind the commit, while that waits for the standby.
      const backends =
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'payments'";
      if (!isStored) {
        await sql(`create function payments.fail() returns trigger language plpgsql as $$
          begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`);
        await sql(
          'create trigger fail before insert on payments.log for each row execute function payments.fail()',
        );
        return async () => void (await sql('drop trigger fail on payments.log'));
      }
      standby.freeze();
      setTimeout(() => void sql(`${backends} and datname = '${database}'`), 150);
      return async () => standby.thaw();
    },
    async damage(firstSequence) {
      await sql(`update payments.log set bytes = set_byte(bytes, length(bytes) - 5, get_byte(bytes, length(bytes) - 5) # 1)
        where first_sequence = ${firstSequence}`);
    },
  };
}

engineContract('on PostgreSQL', onPostgres, { skip: leftOut });
