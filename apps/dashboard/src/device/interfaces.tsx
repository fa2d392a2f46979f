import type { DeviceProfile } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { Table } from "../fields/table.tsx";

/** Network interfaces with the addresses that they have or had. */
export function Interfaces({ interfaces }: { readonly interfaces: DeviceProfile["interfaces"] }) {
  return (
    <Table heads={["MAC address", "IP address", "Seen"]}>
      {interfaces.flatMap(({ mac, vendor, addresses }) => (addresses.length === 0 ? [null] : addresses).map((address, at) => (
        <tr key={`${mac} ${address?.ip}`}>
          <td>{at === 0 && <><code>{mac || "behind a router"}</code><br /><Foreign text={vendor} longest={60} /></>}</td>
          <td>{address ? <><code>{address.ip}</code>{!address.current && " (before)"}</> : "none"}</td>
          <td>{address && <Moment at={address.last_seen} />}</td>
        </tr>
      )))}
    </Table>
  );
}
