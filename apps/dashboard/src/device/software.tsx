import type { DeviceProfile } from "@lanthorn/contract";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { percent } from "../texts/percent.ts";

/** Its system and firmware, as several sources say; nothing where none does. What answers at a port is with the port. */
export function SoftwareOf({ software }: { readonly software: DeviceProfile["software"] }) {
  if (software.length === 0) return null;
  return (
    <Panel title="System and firmware" isFlush>
      <Table heads={["Software", "Version", "Built by", "Sources", "Sure", "Seen"]}>
        {software.map((one) => (
          <tr key={`${one.vendor} ${one.product} ${one.version} ${one.edition} ${one.package_version}`}>
            <td><Foreign text={nameOf(one)} longest={100} /></td>
            <td><Foreign text={one.version || "–"} longest={40} />{one.package_version !== "" && <code> <Foreign text={one.package_version} longest={60} /></code>}</td>
            <td><Foreign text={one.distribution || "–"} longest={60} /></td><td><Foreign text={one.sources.join(", ")} longest={120} /></td>
            <td>{percent(one.confidence)}</td><td><Moment at={one.last_seen} /></td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

/** A product with its maker before it, where its name does not begin so by itself. */
function nameOf({ vendor, product, edition }: DeviceProfile["software"][number]): string {
  const maker = product.toLowerCase().startsWith(vendor.toLowerCase()) ? "" : vendor;
  return [maker, product, edition].filter((part) => part !== "").join(" ");
}
