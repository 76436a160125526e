// Time for measurements that several processes take together.

/** Milliseconds since 1970, as exact as `performance.now()`, and the same in all processes of a machine. */
export function timeNow(): number {
  return performance.timeOrigin + performance.now();
}
