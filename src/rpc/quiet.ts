// How what is served comes to an end: what was sent before its client could know of that is
// answered still.

const quietTurns = 10;
const quietTurnMs = 10;

/**
 * Resolves when nothing was under way for some turns of the event loop, at the latest after
 * `graceMs`. By then everything is read that was sent before.
 */
export async function quiet(isBusy: () => boolean, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (let turns = 0; turns < quietTurns && performance.now() < deadline; turns++) {
    await new Promise((resolve) => setTimeout(resolve, quietTurnMs));
    if (isBusy()) turns = 0;
  }
}
