// How much is held or done in one piece, where only speed depends on it. It is called for constants
// only, and never for what somebody outside can see. The simulator exchanges this function, so that
// small amounts of data come upon what happens at the end of each piece.

export function pieceSize(size: number): number {
  return size;
}
