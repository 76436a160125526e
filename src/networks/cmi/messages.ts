// The XML messages of CMI's interface for merchants (`/fim/api`): a `CC5Request` about one order,
// and its `CC5Response`. What can't be read as one is an error and never an answer, so that nothing
// is decided by it.

import { parseXml, XmlElement } from '@rgrove/parse-xml';
import { dirham, dirhamsOf } from './dirhams.ts';

export interface ApiUser {
  readonly name: string;
  readonly password: string;
}

export type CmiOperation =
  | { readonly type: 'PostAuth'; readonly centimes: number }
  | { readonly type: 'Void' }
  /** `transaction` is our name for the refund. */
  | { readonly type: 'Credit'; readonly centimes: number; readonly transaction: string }
  | { readonly query: 'ORDERSTATUS' | 'ORDERHISTORY' };

export function requestOf(
  operation: CmiOperation,
  order: string,
  clientId: string,
  { name, password }: ApiUser,
): string {
  const about = element('OrderId', order);
  const who = element('Name', name) + element('Password', password) + element('ClientId', clientId);
  return `<?xml version="1.0" encoding="UTF-8"?><CC5Request>${who}${about}${detailsOf(operation)}</CC5Request>`;
}

function detailsOf(operation: CmiOperation): string {
  if ('query' in operation) return `<Extra>${element(operation.query, 'QUERY')}</Extra>`;
  const type = element('Type', operation.type);
  if (operation.type === 'Void') return type;
  const total = element('Total', dirhamsOf(operation.centimes)) + element('Currency', dirham);
  return operation.type === 'PostAuth'
    ? type + total
    : type + total + element('TransId', operation.transaction);
}

function element(name: string, text: string): string {
  const escaped = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<${name}>${escaped}</${name}>`;
}

/** An answer. The text of an element that is not there is ''. */
export interface CmiResponse {
  readonly isDone: boolean;
  /** Why it was not done: the gateway's own code, such as `CORE-2508`, or else the return code. */
  readonly fault: string;
  /** What went wrong, in CMI's words. */
  readonly message: string;
  /** What is in `Extra`, by its name. */
  extra(name: string): string;
}

/**
 * The longest answer is the history of an order, and a refund that waits for the payment to be
 * settled adds a refusal to it with each try.
 */
export const responseBytesMax = 256 * 1024;
/** Characters that XML gives a meaning. They are what takes time to parse. */
const markupMax = 8 * 1024;

/**
 * Throws when the text is no answer about `order`, without any of the text, which may tell of a
 * card.
 */
export function responseOf(text: string, order: string): CmiResponse {
  const isMarkedUp = text.split(/[<&=]/, markupMax + 2).length > markupMax + 1;
  if (text.length > responseBytesMax || isMarkedUp) throw new Error('the answer of the network is too long');
  const root = rootOf(text);
  if (root?.name !== 'CC5Response') throw new Error("the network's answer is no CC5Response");
  const texts = textsOf(root);
  const field = (name: string) => texts.get(name) ?? '';
  const extras = textsOf(elementsOf(root).find(({ name }) => name === 'Extra'));
  const extra = (name: string) => extras.get(name) ?? '';
  const returnCode = field('ProcReturnCode');
  // Some refusals have no return code.
  const isRefused = /^(Declined|Error)$/.test(field('Response'));
  if (returnCode === '' && !isRefused) throw new Error("the network's answer has no return code");
  const fault = extra('ERRORCODE') || field('ERRORCODE') || returnCode;
  const isDone = returnCode === '00' && !isRefused;
  // Some refusals name no order.
  if (isDone && field('OrderId') !== order) throw new Error("the network's answer is about another order");
  return {
    isDone,
    fault: /^[\w-]{1,40}$/.test(fault) ? fault : 'refused',
    message: field('ErrMsg'),
    extra,
  };
}

function rootOf(text: string): XmlElement | null {
  try {
    return parseXml(text.trim()).root;
  } catch {
    throw new Error("the network's answer is no XML");
  }
}

function elementsOf(parent: XmlElement): XmlElement[] {
  return parent.children.filter((child) => child instanceof XmlElement);
}

function textsOf(parent: XmlElement | undefined): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { name, text } of parent === undefined ? [] : elementsOf(parent)) {
    if (texts.has(name)) throw new Error("the network's answer says something twice");
    texts.set(name, text.trim());
  }
  return texts;
}
