// What is wrong with the settings of a connector: each fault is found, and several at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingFaults } from '../../src/networks/connector-settings.ts';
import type { ConnectorName } from '../../src/networks/connectors.ts';

const secrets: readonly string[] = ['secret', 'store_key', 'api_password'];

/** The faults of these settings, as `setting fault`. */
function faultsOf(network: ConnectorName, given: Readonly<Record<string, string>>): string[] {
  const part = (isSecret: boolean) =>
    Object.fromEntries(Object.entries(given).filter(([name]) => secrets.includes(name) === isSecret));
  const addressFault = (address: string) => (address.startsWith('https:') ? null : 'must use https');
  const faults = settingFaults(network, { settings: part(false), secrets: part(true) }, addressFault);
  return faults.map(({ setting, fault }) => `${setting} ${fault}`);
}

const http = { address: 'https://a.example', secret: 'x'.repeat(16) };
const cmi = { gateway: 'https://b.example', client_id: '6001', store_key: 'K' };
const user = { api_user: 'u', api_password: 'p' };

test('settings that are whole have no fault', () => {
  assert.deepEqual(faultsOf('http', http), []);
  assert.deepEqual(faultsOf('cmi', cmi), []);
  assert.deepEqual(faultsOf('cmi', { ...cmi, ...user }), []);
  const secret = `${http.secret}\u200b`;
  assert.deepEqual(faultsOf('http', { ...http, secret }), [], 'a secret is taken as it is');
});

test('every fault is found', () => {
  const rows: readonly [ConnectorName, Readonly<Record<string, string>>, readonly string[]][] = [
    ['http', {}, ['address missing', 'secret missing']],
    ['http', { address: 'http://a', secret: 'short' }, ['address address', 'secret too_short']],
    ['http', { ...http, gateway: 'https://b.example' }, ['gateway unknown']],
    ['cmi', { ...cmi, client_id: '' }, ['client_id too_short']],
    ['cmi', { ...cmi, api_user: 'u' }, ['api_password missing']],
    ['cmi', { ...cmi, api_password: 'p' }, ['api_user missing']],
    ['http', { ...http, agents: 'Wafa\u202ehsac' }, ['agents hidden']],
    ['cmi', user, ['gateway missing', 'client_id missing', 'store_key missing']],
  ];
  for (const [network, given, expected] of rows) assert.deepEqual(faultsOf(network, given), expected);
});

test('a secret among the settings, where it would not be sealed, is missing among the secrets', () => {
  const settings = { address: http.address, secret: http.secret };
  const faults = settingFaults('http', { settings, secrets: {} }, () => null);
  assert.deepEqual(
    faults.map(({ setting, fault }) => `${setting} ${fault}`),
    ['secret missing'],
  );
});
