// Stands in for `core/piece-size.ts`: what is held or done in one piece is so small here that a run comes upon the end of each piece.

export function pieceSize(size: number): number {
  return Math.ceil(size > 4_096 ? Math.sqrt(size) : Math.cbrt(size));
}
