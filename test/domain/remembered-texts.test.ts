import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RememberedTexts } from '../../src/domain/remembered-texts.ts';
import { createIntent, openCharge } from './scenes.ts';
import { Stage } from './stage.ts';

test('the text of a record is remembered until another object has its id', () => {
  const texts = new RememberedTexts<{ readonly id: string }>(100);
  const [before, after] = [{ id: 'pi_1' }, { id: 'pi_1' }];
  assert.equal(texts.get(before), undefined);
  assert.equal(texts.put(before, 'before'), 'before');
  assert.equal(texts.get(before), 'before');
  assert.equal(texts.get(after), undefined);
  texts.put(after, 'after');
  assert.equal(texts.get(after), 'after');
  assert.equal(texts.get(before), undefined);
});

test('when the texts become too long, they are forgotten', () => {
  const texts = new RememberedTexts<{ readonly id: string }>(100);
  const records = ['pi_1', 'pi_2', 'pi_3'].map((id) => ({ id }));
  for (const record of records) texts.put(record, 'x'.repeat(40));
  assert.deepEqual(
    records.map((record) => texts.get(record)?.length),
    [undefined, undefined, 40],
  );
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
