import type { HostPlan } from "./host-plan.ts";

/** What hangs on the floor's switch; the name is that of its port too. */
const DESKS = [
  { port: "desk1", mac: "10:65:30:77:00:93", address: "10.77.0.93" }, { port: "desk2", mac: "10:65:30:77:00:94", address: "10.77.0.94" },
] as const;

/** A second switch, with a bridge of its own and hosts behind it: what it hears at its uplink is the rest of the LAN. Netgear. */
export const FLOOR_SWITCH = {
  name: "floor-switch", mac: "28:80:88:79:00:92", address: "10.77.0.92", uplink: "eth0", desks: DESKS,
} as const;

/** Its plan. Its addresses are on its bridge, and are no host's of the plan. */
export const FLOOR_SWITCH_PLAN: HostPlan = {
  name: FLOOR_SWITCH.name, mac: FLOOR_SWITCH.mac, addresses: [], daemons: ["lldpd"],
  network: [
    `ip link add floor address ${FLOOR_SWITCH.mac} type bridge stp_state 0 mcast_snooping 0 forward_delay 0`,
    `ip link set ${FLOOR_SWITCH.uplink} master floor`, "ip link set floor up",
    `ip addr add ${FLOOR_SWITCH.address}/24 broadcast + dev floor`,
    ...DESKS.flatMap(({ port, mac, address }) => [
      `ip netns add ${port}`, `ip link add ${port} type veth peer name eth0 address ${mac} netns ${port}`,
      `ip link set ${port} master floor up`,
      `ip -n ${port} addr add ${address}/24 broadcast + dev eth0`, `ip -n ${port} link set lo up`, `ip -n ${port} link set eth0 up`,
    ]),
  ],
};
