import { type RequestFrame, RequestReader } from '../../src/shard/frames.ts';

/** Gives each of the requests that are sent in one buffer to `each`. */
export function readRequests(bytes: ArrayBuffer, each: (frame: RequestFrame) => void): void {
  for (const reader = new RequestReader(bytes); reader.left > 0; ) each(reader.next());
}
