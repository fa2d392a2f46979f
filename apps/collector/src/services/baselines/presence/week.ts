/** Hours of a week, from Sunday 00:00 in UTC. */
const HOURS = 168;
const HOUR_MS = 3_600_000;
/** 1970-01-01 was a Thursday. */
const EPOCH_HOUR = 4 * 24;
/** What four bits hold. Beyond it both counts are halved, so that the last weeks count most. */
const MAX_COUNT = 15;

/** For each hour of the week: how often the device was looked for in it, and how often it was there. */
export interface Week {
  /** The last hour that counts, in hours since the epoch; -1 for none. */
  readonly hour: number;
  /** Whether it was there in that hour. */
  readonly wasThere: boolean;
  /** One byte for each hour of the week: four bits of looked for, four of there. */
  readonly counts: Uint8Array;
  /** Hours in which it was looked for since it is known, and hours in which it was there. */
  readonly looked: number;
  readonly there: number;
}

/** Nothing is known yet. */
export function emptyWeek(): Week {
  return { hour: -1, wasThere: false, counts: new Uint8Array(HOURS), looked: 0, there: 0 };
}

/** Reads `baselines.presence`. What cannot be read is as if nothing was known. */
export function readWeek(text: string): Week {
  const [, hour, state, looked, there, counts] = /^(\d+)([ab])(\d+)\/(\d+):([\w+/=]+)$/.exec(text) ?? [];
  const bytes = Buffer.from(counts ?? "", "base64");
  if (hour === undefined || bytes.length !== HOURS) return emptyWeek();
  return { hour: Number(hour), wasThere: state === "a", counts: bytes, looked: Number(looked), there: Number(there) };
}

/** As `readWeek` reads it: below 300 characters. */
export function writeWeek({ hour, wasThere, counts, looked, there }: Week): string {
  return hour < 0 ? "" : `${hour}${wasThere ? "a" : "b"}${looked}/${there}:${Buffer.from(counts).toString("base64")}`;
}

/**
 * Notes that a device was looked for, once for each hour: in an hour in which it was there once, it was there.
 * @param now Milliseconds since the epoch.
 * @returns The same where there is nothing to note.
 */
export function noteHour(week: Week, isThere: boolean, now: number): Week {
  const hour = Math.floor(now / HOUR_MS);
  if (hour < week.hour || (hour === week.hour && (week.wasThere || !isThere))) return week;
  const counts = Uint8Array.from(week.counts);
  const at = hourOfWeek(now);
  const isNew = hour !== week.hour;
  let [looked, there] = split(counts[at]);
  if (isNew) {
    if (looked === MAX_COUNT) [looked, there] = [looked >> 1, there >> 1];
    looked += 1;
  }
  if (isThere) there += 1;
  counts[at] = (looked << 4) | there;
  return { hour, wasThere: isThere, counts, looked: week.looked + Number(isNew), there: week.there + Number(isThere) };
}

/** How often a device was looked for in this hour of the week before, and how often it was there. This very hour does not count. */
export function hourBefore({ hour, wasThere, counts }: Week, now: number): { readonly looked: number; readonly there: number } {
  const [looked, there] = split(counts[hourOfWeek(now)]);
  const isThis = hour === Math.floor(now / HOUR_MS);
  return { looked: looked - Number(isThis), there: there - Number(isThis && wasThere) };
}

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;

/** The hours in which a device usually is there, as `Mon-Fri 07-18, Sat 09-12` in UTC; empty while none is known. */
export function describeWeek({ counts }: Week): string {
  const isUsual = (day: number, hour: number) => isUsualHour(split(counts[((day + 1) % 7) * 24 + hour]));
  const ofDay = DAYS.map((_, day) => spans(Array.from({ length: 24 }, (_hour, hour) => isUsual(day, hour))));
  const parts: string[] = [];
  for (let from = 0; from < DAYS.length;) {
    let to = from;
    while (to + 1 < DAYS.length && ofDay[to + 1] === ofDay[from]) to += 1;
    if (ofDay[from] !== "") parts.push(`${DAYS[from]}${to > from ? `-${DAYS[to]}` : ""} ${ofDay[from]}`);
    from = to + 1;
  }
  return parts.join(", ");
}

/** There in two thirds of the weeks in which it was looked for in that hour, of two at least. */
export function isUsualHour([looked, there]: readonly [number, number]): boolean {
  return looked >= 2 && there * 3 >= looked * 2;
}

function spans(hours: readonly boolean[]): string {
  const found: string[] = [];
  for (let from = 0; from < hours.length; from += 1) {
    if (!hours[from]) continue;
    let to = from;
    while (hours[to + 1]) to += 1;
    found.push(`${pad(from)}-${pad(to + 1)}`);
    from = to;
  }
  return found.join(" ");
}

function pad(hour: number): string {
  return String(hour).padStart(2, "0");
}

function hourOfWeek(now: number): number {
  return (Math.floor(now / HOUR_MS) + EPOCH_HOUR) % HOURS;
}

function split(byte: number | undefined): [number, number] {
  return [(byte ?? 0) >> 4, (byte ?? 0) & 15];
}
