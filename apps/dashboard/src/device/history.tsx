import type { DeviceProfile } from "@lanthorn/contract";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { Table } from "../fields/table.tsx";
import { Nothing } from "../states/answer.tsx";
import { fieldName } from "./identity.tsx";

/** Changes, the newest first. */
export function History({ history }: { readonly history: DeviceProfile["history"] }) {
  if (history.length === 0) return <Nothing>Nothing has changed since it was found.</Nothing>;
  return (
    <Table heads={["When", "Field", "Change", "Source"]}>
      {history.map((change, at) => (
        <tr key={at}>
          <td><Moment at={change.at} /></td><td>{fieldName(change.field)}</td>
          <td>{change.before !== "" && <><del><Foreign text={change.before} longest={80} /></del> → </>}<ins><Foreign text={change.after || "none"} longest={80} /></ins></td>
          <td><Foreign text={change.source} longest={40} /></td>
        </tr>
      ))}
    </Table>
  );
}
