/** Time in the browser: the only file of the dashboard that reads it. The package runtime is for Node. */
export const clock = {
  now: () => Date.now(),
  /** Runs a task once. @returns What cancels it. */
  after(delayMs: number, task: () => void): () => void {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
  /** Runs a task again and again. @returns What ends it. */
  every(intervalMs: number, task: () => void): () => void {
    const timer = setInterval(task, intervalMs);
    return () => clearInterval(timer);
  },
} as const;
