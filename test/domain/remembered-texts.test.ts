import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RememberedTexts } from '../../src/domain/remembered-texts.ts';
import { createIntent, openCharge } from './scenes.ts';
import { Stage } from './stage.ts';

type Shown = { readonly id: string; readonly org: string };
const shown = (id: string, org = 'org_1'): Shown => ({ id, org });

test('the text of a record is remembered until another object has its id', () => {
  const texts = new RememberedTexts<Shown>(100);
  const [before, after] = [shown('pi_1'), shown('pi_1')];
  assert.equal(texts.get(before), undefined);
  assert.equal(texts.put(before, 'before'), 'before');
  assert.equal(texts.get(before), 'before');
  assert.equal(texts.get(after), undefined);
  texts.put(after, 'after');
  assert.equal(texts.get(after), 'after');
  assert.equal(texts.get(before), undefined);
});

test('when the texts become too long, they are forgotten', () => {
  const texts = new RememberedTexts<Shown>(100);
  const records = ['pi_1', 'pi_2', 'pi_3'].map((id) => shown(id));
  for (const record of records) texts.put(record, 'x'.repeat(40));
  assert.deepEqual(
    records.map((record) => texts.get(record)?.length),
    [undefined, undefined, 40],
  );
});

test('an organization with many texts makes the room for its own, and others keep theirs', () => {
  const texts = new RememberedTexts<Shown>(100);
  const own = shown('pi_1', 'org_2');
  texts.put(own, 'own');
  const crowd = Array.from({ length: 50 }, (_, i) => shown(`pi_crowd_${i}`));
  for (const record of crowd) texts.put(record, 'x'.repeat(10));
  assert.equal(texts.get(own), 'own');
  assert.equal(texts.get(crowd.at(-1)!)?.length, 10);
});

test('a text that is remembered anew takes room once', () => {
  const texts = new RememberedTexts<Shown>(100);
  const other = shown('pi_2');
  texts.put(other, 'other');
  for (let i = 0; i < 50; i++) texts.put(shown('pi_1'), 'x'.repeat(10));
  assert.equal(texts.get(other), 'other');
});

test('a record that was read is read again as it is now, with what other records say of it', () => {
  const stage = new Stage();
  const id = createIntent(stage, { payment_method_types: ['cash'] });
  const read = () => stage.read('retrieve_payment_intent', {}, id);
  assert.deepEqual(read(), read());
  stage.given('update_payment_intent', { description: 'Lamp' }, id);
  assert.equal(read().description, 'Lamp');
  const charge = stage.get('charge', openCharge(stage, id, 'cash'));
  assert.equal(read().next_action.cash_display_details.number, charge.cash_number);
  stage.world.state.apply({ ...charge, cash_number: '1234567890' });
  assert.equal(read().next_action.cash_display_details.number, '1234567890');
});
