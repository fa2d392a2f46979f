/** A span of some days of the week, in the site's local time. */
export interface ScheduleSpan {
  /** 0 is Sunday. Of a span over midnight: the days on which it begins. */
  readonly days: readonly number[];
  /** Minutes since midnight, 0 to 1439. */
  readonly fromMinute: number;
  /** Up to but without it, 0 to 1440. Not above `fromMinute`: it ends on the next day. */
  readonly toMinute: number;
}

/** Holds in any of its spans. */
export interface Schedule {
  readonly spans: readonly ScheduleSpan[];
  /** As the IANA names it; the site's where it is left out. */
  readonly timeZone?: string;
}

/** Local days and minutes of time zones. */
export interface LocalTimes {
  /** @param timeZone As the IANA names it; one that the platform does not know counts as UTC. */
  isActive(schedule: Schedule, timeZone: string, atMs: number): boolean;
}

interface LocalTime {
  readonly day: number;
  readonly minute: number;
}

const MINUTE_MS = 60_000;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Asks the platform once a minute for each zone. */
export function createLocalTimes(): LocalTimes {
  const formats = new Map<string, Intl.DateTimeFormat>();
  const current = new Map<string, { readonly minute: number; readonly local: LocalTime }>();

  function localTime(timeZone: string, atMs: number): LocalTime {
    const minute = Math.floor(atMs / MINUTE_MS);
    const known = current.get(timeZone);
    if (known?.minute === minute) return known.local;
    const format = formats.get(timeZone) ?? createFormat(timeZone);
    formats.set(timeZone, format);
    const parts = new Map(format.formatToParts(minute * MINUTE_MS).map(({ type, value }) => [type, value]));
    const local = { day: DAYS.indexOf(parts.get("weekday") ?? ""), minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")) };
    current.set(timeZone, { minute, local });
    return local;
  }

  return {
    isActive({ spans }, timeZone, atMs) {
      const { day, minute } = localTime(timeZone, atMs);
      return spans.some(({ days, fromMinute, toMinute }) => {
        if (fromMinute < toMinute) return days.includes(day) && minute >= fromMinute && minute < toMinute;
        return (days.includes(day) && minute >= fromMinute) || (days.includes((day + 6) % 7) && minute < toMinute);
      });
    },
  };
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const options = { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-US", { ...options, timeZone });
  } catch {
    return new Intl.DateTimeFormat("en-US", { ...options, timeZone: "UTC" });
  }
}
