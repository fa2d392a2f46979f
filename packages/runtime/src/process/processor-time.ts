/**
 * Runs some work that does not wait.
 * @returns Milliseconds that the processor took for it, in all threads of this process: a machine with other work does not make them more.
 */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
