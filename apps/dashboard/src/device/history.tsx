import type { DeviceProfile } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

/** Changes, the newest first. */
export function History({ history }: { readonly history: DeviceProfile["history"] }) {
  return (
    <table>
      <thead><tr><th scope="col">When</th><th scope="col">Field</th><th scope="col">Change</th><th scope="col">Source</th></tr></thead>
      <tbody>
        {history.map((change, at) => (
          <tr key={at}>
            <td><Moment at={change.at} /></td><td>{change.field}</td>
            <td>{change.before !== "" && <><del><Foreign text={change.before} longest={80} /></del> → </>}<ins><Foreign text={change.after || "none"} longest={80} /></ins></td>
            <td><Foreign text={change.source} longest={40} /></td>
          </tr>
        ))}
        {history.length === 0 && <tr><td colSpan={4}>Nothing has changed since it was found.</td></tr>}
      </tbody>
    </table>
  );
}
