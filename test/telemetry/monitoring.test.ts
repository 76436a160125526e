// The metrics of a service that was used in every way must have each metric and label that the alert rules and the dashboard
// in config/ name. Otherwise an alert would never fire or a panel stay empty.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { Registry } from 'prom-client';
import {
  createCertificateMetric,
  createLeaseMetrics,
  createLendingMetrics,
  createStandbyMetrics,
} from '../../src/telemetry/cluster-metrics.ts';
import { newOrganization, startService, withRequestLogs } from '../service.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { webhookEnv } from '../webhooks/service-webhooks.ts';

const config = join(import.meta.dirname, '..', '..', 'config');
const textOf = (name: string) => readFileSync(join(config, name), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly severity: string;
  readonly summary: string;
  readonly description: string;
}

/** What every rule looks like, line by line: so no parser is needed here. */
const rulePattern =
  /^ {6}- alert: (?<alert>Payments[A-Z]\w+)\n {8}expr: (?<expr>\w.*)\n {8}for: \d+[smh]\n {8}labels:\n {10}severity: (?<severity>page|ticket)\n {8}annotations:\n {10}summary: (?<summary>[A-Z].*)\n {10}description: (?<description>[A-Z].*\.)\n/gm;

const alerts = textOf('alerts.yml');
const rules = [...alerts.matchAll(rulePattern)].map(({ groups }) => groups as unknown as Rule);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(textOf('dashboard.json'));
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map((target) => ({ where: title, ...target })),
);

const functions = new Set(
  'absent avg_over_time changes count histogram_quantile increase max min or predict_linear rate sum topk unless vector'.split(
    ' ',
  ),
);

/** The metrics that an expression names, and the labels that it expects of any of them. */
function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const labels: string[] = [];
  const bare = expr
    .replace(/\{([^}]*)\}/g, (_, matchers: string) => {
      labels.push(...[...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map((match) => match[1]!));
      return '';
    })
    .replace(/\bby \(([^)]*)\)/g, (_, list: string) => {
      labels.push(...list.split(/, */));
      return '';
    })
    .replace(/\[[^\]]*\]/g, '');
  const words = bare.match(/[a-zA-Z_]\w*/g) ?? [];
  return { metrics: words.filter((word) => !functions.has(word)), labels };
}

/** The labels of each metric that has samples on the page. Prometheus itself adds `up`, the job and the instance. */
const page = new Map<string, Set<string>>([['up', new Set(['job'])]]);

/** What a node shows besides that shares the service with others. */
async function clusterMetrics(): Promise<string> {
  const registry = new Registry();
  createLeaseMetrics(registry, 'a', { isTrusted: () => true, damaged: () => [0] }).taken(1);
  createStandbyMetrics(registry).behind(0, 0);
  createCertificateMetric(registry, () => 1_000);
  createLendingMetrics(registry, { runs: () => ['a'], links: () => 0 });
  return registry.metrics();
}

before(async () => {
  const service = await startService({
    env: {
      ...withRequestLogs,
      ...webhookEnv,
      PAYMENTS_JOURNAL_CHECKPOINT_INTERVAL_MS: '100',
      PAYMENTS_LOG_ARCHIVE_DIR: temporaryFolder(),
    },
  });
  try {
    const { key } = await newOrganization(service);
    const endpoint = { url: 'http://127.0.0.1:9/hook', enabled_events: ['*'] };
    await service.call('/v1/webhook_endpoints', { key, body: endpoint });
    const body = { amount: 12_000, currency: 'mad' };
    await service.call('/v1/payment_intents', { key, body, idempotencyKey: 'a' });
    await service.call('/v1/account', { key: null });
    const text = await service.until(async () => {
      const text = await service.metrics();
      const isDone = /^payments_webhook_attempt_duration_seconds_count/m.test(text);
      const isArchiving = /^payments_archive_lag_seconds/m.test(text);
      return isDone && isArchiving && /^payments_checkpoint_duration_seconds_count/m.test(text)
        ? text
        : undefined;
    });
    for (const [, name, labels = ''] of (text + (await clusterMetrics())).matchAll(
      /^([a-z_]+)(?:\{([^}]*)\})? /gm,
    )) {
      const known = page.get(name!) ?? new Set();
      page.set(name!, known);
      for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
      known.add('instance');
    }
  } finally {
    await service.stop();
  }
});

/** Complains of what an expression names and the page does not have. */
function missingFrom(expr: string, shown = ''): string[] {
  const { metrics, labels } = namesIn(expr);
  const unknown = metrics.filter((name) => !page.has(name));
  const has = new Set(metrics.flatMap((name) => [...(page.get(name) ?? [])]));
  const wanted = [
    ...labels,
    ...[...shown.matchAll(/\{\{ *(?:\$labels\.)?(\w+) *\}\}/g)].map(([, label]) => label!),
  ];
  return [
    ...unknown,
    ...(metrics.length === 0 ? ['names no metric'] : []),
    ...wanted.filter((label) => !has.has(label)).map((label) => `label ${label}`),
  ];
}

test('the alert rules have the form that Prometheus takes', () => {
  assert.ok(rules.length >= 15, String(rules.length));
  const rest = alerts.replace(rulePattern, '');
  assert.match(rest, /^(#.*\n)+groups:\n {2}- name: payments\n {4}rules:\n$/);
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const { expr, summary, description } of rules) {
    // What would end a plain scalar of YAML, or make it something else.
    for (const text of [expr, summary, description]) assert.doesNotMatch(text, /: | #|^[&*!|>%@`'"[{]/);
  }
});

test('each alert names metrics and labels that the service has', () => {
  const found = rules.flatMap(({ alert, expr, summary }) =>
    missingFrom(expr, summary).map((missing) => `${alert}: ${missing}`),
  );
  assert.deepEqual(found, []);
});

test('what is unknown would be noticed', () => {
  assert.deepEqual(missingFrom('rate(payments_requests[5m]) > 0'), ['payments_requests']);
  assert.deepEqual(missingFrom('sum by (shard) (rate(payments_requests_total{code="x"}[5m]))'), [
    'label code',
    'label shard',
  ]);
  assert.deepEqual(missingFrom('payments_shard_up == 0', 'Shard {{ $labels.thread }}'), ['label thread']);
});

test('each panel of the dashboard shows metrics and labels that the service has, and none lies on another', () => {
  assert.ok(queries.length >= 30, String(queries.length));
  const found = queries.flatMap(({ where, expr, legendFormat }) =>
    missingFrom(expr, legendFormat).map((missing) => `${where}: ${missing}`),
  );
  assert.deepEqual(found, []);
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of dashboard.panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x + w <= 24, title);
    for (let cell = 0; cell < w * h; cell++) {
      const place = `${x + (cell % w)},${y + Math.floor(cell / w)}`;
      assert.ok(!taken.has(place), `${title} lies on another panel`);
      taken.add(place);
    }
  }
});

test('what is worth an alert is on the dashboard, too', () => {
  const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr).metrics));
  const watched = new Set(rules.flatMap(({ expr }) => namesIn(expr).metrics));
  // Whether it is there at all, and what is either nothing or worth getting up for.
  for (const name of ['up', 'payments_directory_failures_total']) watched.delete(name);
  assert.deepEqual(
    [...watched].filter((name) => !shown.has(name)),
    [],
  );
});

test('a counter that has counted nothing yet is there, so that its first count is seen to be one', () => {
  for (const { alert, expr } of rules) {
    for (const [, name] of expr.matchAll(/increase\((\w+)\[/g))
      assert.ok(page.has(name!), `${alert}: ${name}`);
  }
});

test('the scrape recipe scrapes the job that the rules speak of, on the port that the documents name', () => {
  const recipe = textOf('prometheus.yml');
  const job = /job_name: (\w+)/.exec(recipe)![1];
  assert.ok(rules.some(({ expr }) => expr.includes(`job="${job}"`)));
  const port = /targets: \["127\.0\.0\.1:(\d+)"\]/.exec(recipe)![1];
  assert.ok(textOf('../docs/operations.md').includes(`PAYMENTS_METRICS_PORT=${port}`));
  assert.match(recipe, /^rule_files:\n {2}- alerts\.yml$/m);
});

const lacksPromtool = spawnSync('promtool', ['--version']).status === 0 ? false : 'needs promtool';

test('Prometheus takes the rules', { skip: lacksPromtool }, () => {
  const checked = spawnSync('promtool', ['check', 'rules', join(config, 'alerts.yml')], { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});

test('a node serves for as long as it has the lease and is trusted', async () => {
  const registry = new Registry();
  let isTrusted = true;
  const lease = createLeaseMetrics(registry, 'a', { isTrusted: () => isTrusted, damaged: () => [] });
  const shown = async () => (await registry.metrics()).match(/^payments_(node_serves|lease_epoch)\S* \d+$/gm);
  assert.deepEqual(await shown(), ['payments_node_serves{node="a"} 0', 'payments_lease_epoch 0']);
  lease.taken(3);
  assert.deepEqual(await shown(), ['payments_node_serves{node="a"} 1', 'payments_lease_epoch 3']);
  // PostgreSQL is lost: nobody serves, which is worth an alert.
  isTrusted = false;
  assert.deepEqual(await shown(), ['payments_node_serves{node="a"} 0', 'payments_lease_epoch 3']);
  isTrusted = true;
  lease.lost();
  assert.deepEqual(await shown(), ['payments_node_serves{node="a"} 0', 'payments_lease_epoch 0']);
});

test('a node names the partitions of which its files are damaged, and is asked no more how far it follows them', async () => {
  const registry = new Registry();
  let damaged: readonly number[] = [];
  createLeaseMetrics(registry, 'b', { isTrusted: () => true, damaged: () => damaged });
  const standby = createStandbyMetrics(registry);
  for (const shard of [0, 1, 2]) standby.behind(shard, 5);
  const shown = async () =>
    (await registry.metrics()).match(/^payments_(partition_damaged|standby_behind_entries)\S* \d+$/gm);
  assert.deepEqual(
    await shown(),
    [0, 1, 2].map((shard) => `payments_standby_behind_entries{shard="${shard}"} 5`),
  );
  damaged = [0, 2];
  for (const shard of damaged) standby.leave(shard);
  assert.deepEqual(await shown(), [
    'payments_partition_damaged{shard="0",node="b"} 1',
    'payments_partition_damaged{shard="2",node="b"} 1',
    'payments_standby_behind_entries{shard="1"} 5',
  ]);
});
