// Which networks an organization has in a mode, given its connectors, and whose its sealed settings are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  availableIn,
  type ConnectorSettings,
  type ConnectorWorld,
  connectorNames,
  connectors,
  mapSealed,
  noConnectors,
  ownerOfSetting,
} from '../../src/networks/connectors.ts';
import { simulatedAgents } from '../../src/networks/simulator.ts';

const http: ConnectorSettings = {
  connector: 'http',
  settings: { agents: 'Wafacash' },
  sealed: { secret: 's' },
};
const silent: ConnectorSettings = { ...http, settings: {} };
const cmi: ConnectorSettings = {
  connector: 'cmi',
  settings: {},
  sealed: { store_key: 'k', api_password: 'p' },
};

test('in test mode both methods work, through the simulator unless there is a connector', () => {
  const both = { card: true, cash: true };
  for (const [card, cash, expected] of [
    [null, null, { cardPage: 'own', agents: simulatedAgents }],
    [cmi, null, { cardPage: 'hosted', agents: simulatedAgents }],
    [null, http, { cardPage: 'own', agents: 'Wafacash' }],
    [null, silent, { cardPage: 'own', agents: null }],
  ] as const)
    assert.deepEqual(availableIn({ ...noConnectors, test: { card, cash } }, 'test'), {
      ...both,
      ...expected,
    });
});

test('in live mode a method works through a connector alone, and cards are typed on its page', () => {
  for (const [card, cash, agents] of [
    [null, null, null],
    [cmi, null, null],
    [null, http, 'Wafacash'],
    [http, silent, null],
  ] as const)
    assert.deepEqual(availableIn({ ...noConnectors, live: { card, cash } }, 'live'), {
      card: card !== null,
      cash: cash !== null,
      cardPage: 'hosted',
      agents,
    });
});

test('each sealed secret is replaced, and says whose it is', () => {
  const seen: string[] = [];
  const replaced = mapSealed(
    { test: { card: cmi, cash: null }, live: { card: null, cash: http } },
    (sealed, mode, connector, setting) => {
      seen.push(`${mode} ${connector} ${setting} ${sealed}`);
      return `${sealed}'`;
    },
  );
  assert.deepEqual(seen, ['test cmi store_key k', 'test cmi api_password p', 'live http secret s']);
  assert.deepEqual(replaced, {
    test: { card: { ...cmi, sealed: { store_key: "k'", api_password: "p'" } }, cash: null },
    live: { card: null, cash: { ...http, sealed: { secret: "s'" } } },
  });
  assert.deepEqual(ownerOfSetting('org_1', 'live', 'http', 'secret'), {
    id: 'network/live/http/secret',
    org: 'org_1',
  });
});

test('a network is made of its settings, of which none that is needed is missing', () => {
  const world: ConnectorWorld = {
    send: () => assert.fail('nothing is sent'),
    now: () => 0,
    addressFault: () => null,
    doubtMs: 1,
  };
  for (const name of connectorNames) {
    const { connect, methods, settings } = connectors[name];
    const all = Object.fromEntries(settings.map((setting) => [setting.name, 'https://shop.example']));
    assert.deepEqual(Object.keys(connect(all, world)).sort(), [...methods].sort());
    for (const setting of settings.filter(({ required }) => required)) {
      const { [setting.name]: _, ...others } = all;
      assert.throws(() => connect(others, world), new RegExp(`has no ${setting.name}`));
    }
  }
});

test('a setting that is needed comes alone, and one that needs another names it', () => {
  assert.deepEqual(connectorNames, ['http', 'cmi']);
  assert.deepEqual(
    connectors.http.methods,
    ['cash', 'card'],
    'the first one is for cash unless chosen otherwise',
  );
  const shown = connectorNames.flatMap((name) =>
    connectors[name].settings.map(({ name: setting, is, required, ...more }) =>
      [
        name,
        setting,
        is,
        required,
        'with' in more ? more.with : '-',
        'charactersMin' in more ? more.charactersMin : '-',
      ].join(' '),
    ),
  );
  assert.deepEqual(shown, [
    'http address address true - 1',
    'http secret secret true - 16',
    'http agents text false - -',
    'cmi gateway address true - 1',
    'cmi client_id text true - 1',
    'cmi store_key secret true - 1',
    'cmi api_user text false api_password -',
    'cmi api_password secret false api_user -',
  ]);
});
