import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSecretsKey, newSecretsKey, SecretBox } from '../../src/crypto/secret-box.ts';

const owner = { id: 'we_1', org: 'org_1' };
const secret = 'svc_whsec_abcdefghijklmnopqrstuvwxyz012345';

test('a sealed secret opens for its owner, and shows nothing of itself', () => {
  const box = new SecretBox([newSecretsKey()]);
  const sealed = box.seal(secret, owner);
  assert.equal(box.open(sealed, owner), secret);
  assert(!sealed.includes('whsec') && !Buffer.from(sealed.split('.')[2]!, 'base64url').includes('whsec'));
  assert.notEqual(box.seal(secret, owner), sealed, 'each has a nonce of its own');
});

test('it opens for nobody else, not when it was changed, and not without its key', () => {
  const keys = [newSecretsKey()];
  const box = new SecretBox(keys);
  const sealed = box.seal(secret, owner);
  const unreadable = { name: 'SecretUnreadable' };
  for (const other of [
    { ...owner, id: 'we_2' },
    { ...owner, org: 'org_2' },
  ])
    assert.throws(() => box.open(sealed, other), unreadable);
  const start = sealed.lastIndexOf('.') + 1;
  const bytes = Buffer.from(sealed.slice(start), 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    assert.throws(() => box.open(sealed.slice(0, start) + changed.toString('base64url'), owner), unreadable);
  }
  for (const text of ['', 'v1', secret, sealed.slice(0, start), sealed.slice(0, -4), `v2${sealed.slice(2)}`])
    assert.throws(() => box.open(text, owner), unreadable);
  assert.throws(() => new SecretBox([newSecretsKey()]).open(sealed, owner), unreadable);
});

test('of several keys the first seals and all open', () => {
  const [older, newer] = [newSecretsKey(), newSecretsKey()];
  const sealed = new SecretBox([older]).seal(secret, owner);
  const both = new SecretBox([newer, older]);
  assert.equal(both.open(sealed, owner), secret);
  assert.equal(new SecretBox([newer]).open(both.seal(secret, owner), owner), secret);
});

test('what is a key', () => {
  assert(isSecretsKey(newSecretsKey()));
  for (const text of ['', 'secret', newSecretsKey().slice(1), `${newSecretsKey()}=`])
    assert(!isSecretsKey(text), text);
});

test('what an earlier release has sealed opens', () => {
  const box = new SecretBox([Buffer.alloc(32, 7).toString('base64')]);
  const sealed =
    'v1.4bb06f8e4e3a.LWRcM21KbUR4dEKCnTos8aXqhHqgEdSbu-NA0EcEnYbOwKvtXir4gKg7HzTAJwxwC9aGA7iDPhYSBTZlgS8FxHS3VW_Xyw';
  assert.equal(box.open(sealed, owner), secret);
});

test('why a secret does not open is told: its key is missing, or it was changed', () => {
  const box = new SecretBox([newSecretsKey()]);
  const sealed = box.seal(secret, owner);
  const [, keyId] = sealed.split('.');
  const isMissing = (id: string) => ({ message: `the key ${id} of the secret of we_1 is missing` });
  assert.throws(() => box.open(sealed.replace(keyId!, 'another'), owner), isMissing('another'));
  assert.throws(() => box.open(`v2${sealed.slice(2)}`, owner), isMissing(keyId!));
  assert.throws(() => box.open('', owner), isMissing(''));
  const changed = { message: 'the sealed secret of we_1 was changed' };
  for (const text of [`v1.${keyId}`, `v1.${keyId}.AAAA`, sealed.slice(0, -4)])
    assert.throws(() => box.open(text, owner), changed);
});
