/** Looks how long the loop stands still at most. @returns Ends it, and says so in milliseconds. */
export function watchLoop(): () => number {
  let worst = 0;
  let last = process.hrtime.bigint();
  let isOver = false;
  const look = () => {
    const now = process.hrtime.bigint();
    worst = Math.max(worst, Number(now - last) / 1e6);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    return worst;
  };
}
