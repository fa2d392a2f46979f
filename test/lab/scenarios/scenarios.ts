import { ATTACKS_ON_IPV4 } from "./attacks-on-ipv4.ts";
import { ATTACKS_ON_IPV6 } from "./attacks-on-ipv6.ts";
import { ATTACKS_ON_LINK } from "./attacks-on-link.ts";
import { NORMAL_ADDRESSES } from "./normal-addresses.ts";
import { NORMAL_SERVICES } from "./normal-services.ts";
import type { Scenario } from "./scenario.ts";

/** Every attack and every look-alike in which the guards of a probe are judged. Another one is another row. */
export const SCENARIOS: readonly Scenario[] = [
  ...ATTACKS_ON_IPV4, ...ATTACKS_ON_IPV6, ...ATTACKS_ON_LINK, ...NORMAL_ADDRESSES, ...NORMAL_SERVICES,
];

/** Which hosts of the lab the scenarios need on the LAN. */
export const SCENARIO_LAN: readonly string[] = ["gateway", "firewall", "web", "printer", "sensor", "laptop"];
