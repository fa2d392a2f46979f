import { pino, type Logger } from "pino";

/** What code needs of a log; pino's own type satisfies it. */
export type Log = Pick<Logger, "debug" | "info" | "warn" | "error">;

/** Names whose values never reach a log line, at any depth that our records have. */
const SECRET_NAMES = ["password", "token", "secret", "authorization", "access_token", "key"];

/** JSON lines on standard error: standard output belongs to what a command answers. */
export function createLog(options: { readonly name: string; readonly level: string }): Log {
  return pino(
    {
      name: options.name,
      level: options.level,
      base: { name: options.name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_NAMES.flatMap((name) => [name, `*.${name}`]), censor: "[secret]" },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** A log that says nothing, for tests. */
export const silentLog: Log = pino({ level: "silent" });
