// The XML of the gateway's API, read strictly: elements that hold elements or text, no attributes, no comments, nothing twice.

/** A request's elements by name; those of `Extra` have theirs as `Extra/NAME`. */
export type Elements = ReadonlyMap<string, string>;

const token = /<(\/?)([A-Za-z][A-Za-z0-9_]*)>|([^<>]+)/y;
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Throws when the text is not one element `root`. */
export function readXml(xml: string, root: string): Elements {
  const body = xml.replace(/^<\?xml version="1\.0"( encoding="(UTF-8|ISO-8859-9)")?\?>\s*/, '');
  const found = new Map<string, string>();
  const open: string[] = [];
  let text = '';
  let hasElements = false;
  for (token.lastIndex = 0; token.lastIndex < body.length; ) {
    const at = token.lastIndex;
    const match = token.exec(body);
    if (match === null) throw new Error(`not well-formed at ${at}: ${body.slice(at, at + 20)}`);
    const [, closes, name, words] = match;
    if (words !== undefined) {
      if (open.length === 0 && words.trim() !== '') throw new Error('text outside of the document');
      text += words;
    } else if (closes === '') {
      if (open.length === 0 && (found.size > 0 || name !== root)) throw new Error(`the root is not ${root}`);
      if (text.trim() !== '') throw new Error(`text before <${name}>`);
      open.push(name!);
      [text, hasElements] = ['', false];
    } else {
      if (open.at(-1) !== name) throw new Error(`</${name}> closes nothing`);
      const path = open.slice(1).join('/');
      if (found.has(path)) throw new Error(`${path} is there twice`);
      if (!hasElements) found.set(path, decoded(text));
      else if (text.trim() !== '') throw new Error(`text beside the elements of <${name}>`);
      open.pop();
      [text, hasElements] = ['', true];
    }
  }
  if (open.length > 0 || !hasElements) throw new Error('the document is cut off');
  return found;
}

function decoded(text: string): string {
  return text.replace(/&([^;]*);?/g, (entity, name: string) => {
    const number = /^#(x[0-9a-f]+|[0-9]+)$/i.exec(name)?.[1];
    if (number !== undefined) return String.fromCodePoint(Number(number.replace(/^x/i, '0x')));
    if (!Object.hasOwn(entities, name) || !entity.endsWith(';')) throw new Error(`unknown entity ${entity}`);
    return entities[name]!;
  });
}

export interface XmlElements {
  readonly [name: string]: string | XmlElements;
}

export function writeXml(elements: XmlElements): string {
  return Object.entries(elements)
    .map(([name, value]) => {
      const content = typeof value === 'string' ? encoded(value) : writeXml(value);
      return `<${name}>${content}</${name}>`;
    })
    .join('');
}

function encoded(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
