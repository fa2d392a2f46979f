import * as z from "zod";
import { GUARD_SETTINGS, GuardException, type GuardsPart, MAX_GUARD_EXCEPTIONS, ProbeConfiguration } from "@lanthorn/contract/uplink";

const {
  enabled, active, learning_minutes: learningMinutes, quiet_seconds: quietSeconds, dhcp_servers: dhcpServers, routers, roaming_gateways: roamingGateways,
} = GUARD_SETTINGS;

/** The guards of the link: `[guards]`. */
export const GuardSettings = z.strictObject({
  enabled: enabled.default(true),
  active: active.default(true),
  learning_minutes: learningMinutes.default(60),
  quiet_seconds: quietSeconds.default(300),
  dhcp_servers: dhcpServers.default([]),
  routers: routers.default([]),
  roaming_gateways: roamingGateways.default(false),
  exceptions: z.array(GuardException).max(MAX_GUARD_EXCEPTIONS).default([]),
}).prefault({});
type FileSettings = z.infer<typeof GuardSettings>;

/** What is right though a guard would report it: the file's, or the collector's, whose `kind` may be one that this probe does not know. */
export type Exception = NonNullable<GuardsPart["exceptions"]>[number];

/** The settings that guards go by: the file's, with those that the collector pushed. */
export interface GuardSettings extends Omit<FileSettings, "exceptions"> {
  readonly exceptions: readonly Exception[];
}

/** What the collector pushes to this module. */
export const guardsPart = ProbeConfiguration.pick({ guards: true });

/**
 * The file's settings with the collector's over them: its lists are added, its times count, and it turns off what the file turns on,
 * never the other way round; gateways roam where either says so.
 * @param pushed Undefined: the file's alone.
 */
export function withPushed(file: GuardSettings, pushed: GuardsPart = {}): GuardSettings {
  const both = <T>(own: readonly T[], more: readonly T[] = []) => [...new Set([...own, ...more])];
  return {
    enabled: file.enabled && (pushed.enabled ?? true),
    active: file.active && (pushed.active ?? true),
    learning_minutes: pushed.learning_minutes ?? file.learning_minutes,
    quiet_seconds: pushed.quiet_seconds ?? file.quiet_seconds,
    dhcp_servers: both(file.dhcp_servers, pushed.dhcp_servers),
    routers: both(file.routers, pushed.routers),
    roaming_gateways: file.roaming_gateways || (pushed.roaming_gateways ?? false),
    exceptions: [...file.exceptions, ...(pushed.exceptions ?? [])],
  };
}
