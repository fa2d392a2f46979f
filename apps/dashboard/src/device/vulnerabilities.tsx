import type { DeviceProfile } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";

const TONES = { critical: "critical", high: "bad", medium: "warn", low: "calm", none: "calm" } as const;

/** Known vulnerabilities: those that count first. */
export function Vulnerabilities({ cves }: { readonly cves: DeviceProfile["cves"] }) {
  return (
    <Panel title={`Vulnerabilities (${cves.length})`} isFlush>
      <table>
        <thead><tr><th scope="col">CVE</th><th scope="col">Severity</th><th scope="col">Software</th><th scope="col">How sure</th><th scope="col">State</th></tr></thead>
        <tbody>
          {cves.map((cve) => (
            <tr key={`${cve.cve_id} ${cve.product} ${cve.matched_port}`}>
              <td><code>{cve.cve_id}</code></td>
              <td>{cve.severity === null ? "not rated" : <Mark tone={TONES[cve.severity]}>{cve.severity}</Mark>}</td>
              <td><Foreign text={`${cve.product} ${cve.version}`} longest={80} />{cve.matched_port === null ? "" : ` at port ${cve.matched_port}`}</td>
              <td>{cve.confidence}</td><td>{cve.status}</td>
            </tr>
          ))}
          {cves.length === 0 && <tr><td colSpan={5}>None is known for the software that this device has named.</td></tr>}
        </tbody>
      </table>
    </Panel>
  );
}
