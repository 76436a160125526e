import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  idOfKey,
  isSecretsKey,
  newSecretsKey,
  SecretBox,
  SecretUnreadable,
  SigningKeys,
} from '../../src/crypto/secret-box.ts';
import { signatureFault, signatureHeader } from '../../src/crypto/signed-message.ts';

const owner = { id: 'we_1', org: 'org_1' };

test('a sealed secret signs as the secret itself does, the first time and the next', () => {
  const box = new SecretBox([newSecretsKey()]);
  const keys = new SigningKeys(box);
  const sealed = box.seal('svc_whsec_1', owner);
  for (let i = 0; i < 2; i++) {
    const header = signatureHeader({ secrets: [keys.open(sealed, owner)], timestampSeconds: 5, body: '{}' });
    assert.equal(header, signatureHeader({ secrets: ['svc_whsec_1'], timestampSeconds: 5, body: '{}' }));
    assert.equal(signatureFault(header, '{}', 'svc_whsec_1', 5), null);
  }
});

test('a secret that was opened for its owner opens for nobody else', () => {
  const box = new SecretBox([newSecretsKey()]);
  const keys = new SigningKeys(box);
  const sealed = box.seal('svc_whsec_1', owner);
  keys.open(sealed, owner);
  for (const other of [
    { ...owner, id: 'we_2' },
    { ...owner, org: 'org_2' },
  ])
    assert.throws(() => keys.open(sealed, other), SecretUnreadable);
});

test('of more secrets than are kept open each still opens, and a sealed text has a nonce of its own', () => {
  const box = new SecretBox([newSecretsKey()]);
  const keys = new SigningKeys(box);
  const texts = new Set<string>();
  for (let number = 0; number < 4_200; number++) {
    const sealed = box.seal('svc_whsec_1', owner);
    texts.add(sealed);
    assert.equal(keys.open(sealed, owner).export().toString(), 'svc_whsec_1');
    assert.equal(keys.open(sealed, owner), keys.open(sealed, owner), 'it was kept');
  }
  assert.equal(texts.size, 4_200);
});

test('opened secrets are kept up to 4,096, and all are opened anew beyond', () => {
  class Counted extends SecretBox {
    opened = 0;

    override open(...given: Parameters<SecretBox['open']>): string {
      this.opened++;
      return super.open(...given);
    }
  }
  const box = new Counted([newSecretsKey()]);
  const keys = new SigningKeys(box);
  const sealed = Array.from({ length: 4_096 }, () => box.seal('svc_whsec_1', owner));
  for (let times = 0; times < 2; times++) for (const each of sealed) keys.open(each, owner);
  assert.equal(box.opened, 4_096, 'each was opened once');
  keys.open(box.seal('svc_whsec_2', owner), owner);
  keys.open(sealed[0]!, owner);
  assert.equal(box.opened, 4_098, 'one more than are kept');
  keys.open(sealed[0]!, owner);
  assert.equal(box.opened, 4_098);
});

test('a key has the form of a key, and an id that is not part of it', () => {
  const key = newSecretsKey();
  assert.ok(isSecretsKey(key));
  for (const text of ['', key.slice(0, -4), `${key}AAAA`, `${key.slice(0, -1)}!`, `${key} `])
    assert.equal(isSecretsKey(text), false, text);
  assert.equal(idOfKey(Buffer.alloc(32).toString('base64')), '66687aadf862');
});
