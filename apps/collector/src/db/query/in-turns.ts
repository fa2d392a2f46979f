import { nextTurn } from "@lanthorn/runtime";

/** Items that are counted or sorted in a few milliseconds. */
const AT_ONCE = 5000;

/**
 * Items some thousands at a time, with a turn of the event loop after each piece: however many there are, others are not held up.
 * @param atOnce Fewer, where more is done with each.
 */
export async function* inTurns<T>(items: Iterable<T>, atOnce = AT_ONCE): AsyncGenerator<readonly T[]> {
  let piece: T[] = [];
  for (const item of items) {
    if (piece.push(item) < atOnce) continue;
    yield piece;
    piece = [];
    await nextTurn();
  }
  if (piece.length > 0) yield piece;
}
