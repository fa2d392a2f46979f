import { readdirSync, readFileSync } from "node:fs";

/** USER_HZ, the unit of times in /proc; 100 on every Linux. @see proc(5) */
const TICKS_PER_SECOND = 100;

/** User and system time of a process and of its children that have ended, in seconds. */
export function processorSeconds(pid: number): number {
  const fields = statOf(pid);
  return [14, 15, 16, 17].reduce((sum, field) => sum + Number(fields[field - 3]), 0) / TICKS_PER_SECOND;
}

/**
 * User and system time of a process's threads that run now, in seconds and to the nanosecond: `processorSeconds` counts in hundredths.
 * @see https://docs.kernel.org/scheduler/sched-stats.html
 */
export function threadSeconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]), 0) / 1e9;
}

/** User and system time of a process with the children that run now, such as a PostgreSQL's, one for each connection. */
export function familySeconds(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + processorSeconds(each), 0);
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc").map(Number).filter((other) => {
    try {
      return other > 0 && Number(statOf(other)[4 - 3]) === pid;
    } catch {
      // It has ended since.
      return false;
    }
  });
}

/** @returns The fields of /proc/PID/stat from the third on: the name in parentheses before them may hold spaces. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}
