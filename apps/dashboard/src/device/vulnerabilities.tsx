import type { DeviceProfile } from "@lanthorn/contract";
import { count } from "../texts/count.ts";
import { Foreign } from "../texts/foreign.tsx";
import { SeverityMark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { Nothing } from "../states/answer.tsx";

/** Known vulnerabilities: those that count first. */
export function Vulnerabilities({ cves }: { readonly cves: DeviceProfile["cves"] }) {
  return (
    <Panel title={count(cves.length, "vulnerability", "vulnerabilities")} isFlush>
      {cves.length === 0 ? <Nothing>None is known for the software that was found on this device.</Nothing> : (
        <Table heads={["CVE", "Severity", "Software", "How sure", "State"]}>
          {cves.map((cve) => (
            <tr key={`${cve.cve_id} ${cve.product} ${cve.matched_port}`}>
              <td><code>{cve.cve_id}</code></td>
              <td>{cve.severity === null ? "not rated" : <SeverityMark severity={cve.severity} />}</td>
              <td><Foreign text={`${cve.product} ${cve.version}`} longest={80} />{cve.matched_port === null ? "" : ` at port ${cve.matched_port}`}</td>
              <td>{cve.confidence}</td><td>{cve.status}</td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}
