// Reads a network's statement from a CSV file of any size. Its beginning tells the separator and
// the headings, all of it the encoding.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { OperatorFailure, wrongUsage } from '../use-cases/failures.ts';
import {
  type Column,
  columns,
  type LineForm,
  type LineKind,
  plainWord,
  readLine,
  type StatementFormat,
  type StatementLine,
  type Unreadable,
} from './statement-line.ts';

export interface StatementFile {
  readonly path: string;
  readonly format: StatementFormat;
  /** Headings that the file uses instead of the usual ones. */
  readonly headings: ReadonlyMap<Column, string>;
  /** What words of the file mean, besides the usual ones. */
  readonly kinds: ReadonlyMap<string, LineKind>;
}

/** Where the lines of a file begin, and how they are read. */
interface StatementStart {
  readonly form: LineForm;
  readonly bytes: number;
  readonly csv: Options;
  /** The records up to the headings, with them. */
  readonly recordsBefore: number;
  readonly headingsCount: number;
  /** Its last byte is a line break. */
  readonly hasEnd: boolean;
}

export type ReadLine = StatementLine | (Unreadable & { readonly line: number });

const headBytes = 64 * 1024;
/** A statement may have a few lines about itself before the headings. */
const headRecordsMax = 20;
const recordCharactersMax = 64 * 1024;
const separators = [';', ',', '\t', '|'];
/** All of them in one file: with the first one alone, lines with another would be read as one. */
const lineBreaks = ['\r\n', '\n', '\r'];
/** Named instead of a heading: the file has no such column. */
const none = '-';
const required: readonly Column[] = ['order', 'amount'];

/** Looks at the beginning. Throws `OperatorFailure` when it has no headings of a statement. */
export async function startOfStatement(file: StatementFile): Promise<StatementStart> {
  const { head, bytes, hasEnd } = await headOf(file.path);
  const encoding = (await isUtf8(file.path)) ? 'utf8' : 'latin1';
  let seen: readonly string[] = [];
  let unknown: string | undefined;
  let failure: CsvError | null = null;
  for (const delimiter of separators) {
    const csv: Options = {
      delimiter,
      record_delimiter: lineBreaks,
      encoding,
      bom: true,
      trim: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      max_record_size: recordCharactersMax,
      info: true,
    };
    const { records, error } = recordsOf(head, csv);
    failure ??= error;
    for (const [position, cells] of records.entries()) {
      const places = placesOf(cells, file);
      if (required.some((column) => places(column) < 0)) continue;
      const missing = [...file.headings].find(([column, name]) => name !== none && places(column) < 0);
      const form = { amounts: file.format.amounts, places, kinds: file.kinds };
      if (missing === undefined) {
        const headings = { recordsBefore: position + 1, headingsCount: cells.length };
        return { form, bytes, csv, ...headings, hasEnd };
      }
      unknown = missing[1];
    }
    const [first = []] = records;
    if (first.length > seen.length) seen = first;
  }
  if (seen.length === 0 && failure !== null) throw explained(file.path, failure);
  throw wrongUsage(
    unknown === undefined
      ? `${file.path} has no headings for the order and the amount among ${JSON.stringify(seen.slice(0, 20))}: name them with --columns order=HEADING,amount=HEADING`
      : `${file.path} has no heading ${JSON.stringify(unknown)}`,
  );
}

async function headOf(path: string): Promise<{ head: Buffer; bytes: number; hasEnd: boolean }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const last = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const end =
      bytesRead < headBytes ? bytesRead : Math.max(buffer.lastIndexOf('\n'), buffer.lastIndexOf('\r')) + 1;
    const hasEnd = lineBreaks.includes(last.buffer.toString('latin1'));
    return { head: buffer.subarray(0, end), bytes: size, hasEnd };
  } finally {
    await file.close();
  }
}

/** The first records, up to one that can't be read with this separator, and why. */
function recordsOf(head: Buffer, csv: Options): { records: string[][]; error: CsvError | null } {
  const records: string[][] = [];
  const keep = (record: string[]) => void records.push(record);
  try {
    parseText(head, { ...csv, info: false, to: headRecordsMax, on_record: keep });
  } catch (error) {
    if (error instanceof CsvError) return { records, error };
    throw error;
  }
  return { records, error: null };
}

/** Programs for tables often write the encoding of Windows, whose letters may come late. */
async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf8', { fatal: true });
  try {
    // The end of the text is not asked for: a file may be cut off within a letter.
    for await (const bytes of createReadStream(path)) decoder.decode(bytes, { stream: true });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function placesOf(cells: readonly string[], { format, headings }: StatementFile): LineForm['places'] {
  const words = cells.map(plainWord);
  const placeOf = (column: Column) => {
    const given = headings.get(column);
    if (given === none) return -1;
    const names = given === undefined ? format.headings[column] : [plainWord(given)];
    return names.map((name) => words.indexOf(name)).find((place) => place >= 0) ?? -1;
  };
  const places = new Map(columns.map((column) => [column, placeOf(column)]));
  return (column) => places.get(column) ?? -1;
}

/** A record of the file with the number of its last line. */
interface ParsedRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

const batchLines = 1_000;

/** The lines after the headings, some at a time. Throws `OperatorFailure` for a broken file. */
export async function* linesOfStatement(
  path: string,
  { form, csv, recordsBefore, headingsCount, hasEnd }: StatementStart,
  onBytes: (bytes: number) => void,
): AsyncGenerator<readonly ReadLine[]> {
  const source = createReadStream(path);
  const parser = parse({ ...csv, from: recordsBefore + 1 });
  // Both end when one of them fails or nobody reads on.
  const ended = pipeline(source, parser).catch(() => {});
  let batch: ReadLine[] = [];
  let lastLine = 0;
  let isShort = false;
  try {
    const records: AsyncIterable<ParsedRecord> = parser;
    for await (const { record, info } of records) {
      if (batch.length === batchLines) {
        onBytes(source.bytesRead);
        yield batch;
        batch = [];
      }
      batch.push({ line: info.lines, ...readLine(form, info.lines, record) });
      lastLine = info.lines;
      isShort = record.length < headingsCount;
    }
  } catch (error) {
    throw explained(path, error);
  } finally {
    await ended;
  }
  // Without its type, a refund would be read as a payment.
  if (isShort && !hasEnd) batch.splice(-1, 1, { line: lastLine, problem: 'the file ends within this line' });
  yield batch;
}

/** A file that is no CSV, because a quote in it is not closed for instance, is not read in part. */
function explained(path: string, error: unknown): unknown {
  return error instanceof CsvError
    ? new OperatorFailure('failed', `${path} can't be read: ${error.message}`)
    : error;
}
