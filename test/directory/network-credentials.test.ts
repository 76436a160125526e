// Which methods of an organization go through which connector, given what is chosen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withConnector, withoutConnector } from '../../src/directory/network-credentials.ts';
import { close, newOrganization, type Organization } from '../../src/directory/organization.ts';
import { DirectoryRefusal } from '../../src/directory/refusal.ts';
import type { ConnectorName } from '../../src/networks/connectors.ts';

const fresh = newOrganization('org_1', 'Souk', 0);
const settings = (connector: ConnectorName, mark = '1') => ({ connector, settings: { mark }, sealed: {} });
const http = settings('http');
const cmi = settings('cmi');

/** The connector of each method, `card cash` of test and of live mode, with the mark of its settings. */
function shown({ connectors }: Organization): string {
  const of = (mode: 'test' | 'live') =>
    [connectors[mode].card, connectors[mode].cash].map((own) =>
      own === null ? '-' : `${own.connector}${own.settings.mark}`,
    );
  return [...of('test'), ...of('live')].join(' ');
}

test('a connector is for its first method unless others are chosen, in one mode', () => {
  assert.equal(shown(withConnector(fresh, 'live', http, null)), '- - - http1');
  assert.equal(shown(withConnector(fresh, 'live', http, ['card'])), '- - http1 -');
  assert.equal(shown(withConnector(fresh, 'live', http, ['card', 'cash'])), '- - http1 http1');
  assert.equal(shown(withConnector(fresh, 'test', cmi, null)), 'cmi1 - - -');
});

test('new settings are for the methods that go through it already, and a choice replaces those', () => {
  const both = withConnector(fresh, 'live', http, ['card', 'cash']);
  assert.equal(shown(withConnector(both, 'live', settings('http', '2'), null)), '- - http2 http2');
  assert.equal(shown(withConnector(both, 'live', settings('http', '2'), ['card'])), '- - http2 -');
  const cards = withConnector(both, 'live', cmi, null);
  assert.equal(shown(cards), '- - cmi1 http1');
  assert.equal(shown(withConnector(cards, 'live', settings('http', '2'), null)), '- - cmi1 http2');
});

test('a connector is not for every method, and a closed organization has none', () => {
  assert.throws(() => withConnector(fresh, 'live', cmi, ['cash']), /cmi is not for cash/);
  assert.throws(() => withConnector(fresh, 'live', cmi, ['card', 'cash']), /cmi is not for cash/);
  assert.throws(() => withConnector(close(fresh), 'live', cmi, null), DirectoryRefusal);
});

test('a connector that is no longer used leaves the others, and one that is not used is refused', () => {
  const all = withConnector(withConnector(fresh, 'live', http, null), 'live', cmi, null);
  assert.equal(shown(withoutConnector(all, 'live', 'cmi')), '- - - http1');
  assert.equal(shown(withoutConnector(all, 'live', 'http')), '- - cmi1 -');
  assert.throws(() => withoutConnector(all, 'test', 'cmi'), /org_1 does not use cmi in test mode/);
});
