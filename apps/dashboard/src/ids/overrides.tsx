import { useQuery } from "@tanstack/react-query";
import { Mark } from "../parts/mark.tsx";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";

/** What was changed in rules: of one, of a category, or of all with some metadata. */
export function Overrides() {
  const { rest } = useSession();
  const mayWrite = useMay("sensors:write");
  const overrides = useQuery({ queryKey: ["ids", "overrides"], queryFn: () => rest.listIdsOverrides({ per_page: 1000 }) });
  return (
    <Panel title="What was changed in rules" isFlush>
      <Answer query={overrides}>
        {({ data }) => (data.length === 0 ? <Nothing>No rule was changed.</Nothing> : (
          <Table heads={["Of what", "Change", "Why", mayWrite && "Action"]}>
            {data.map((one) => (
              <tr key={one.id}>
                <td className={styles["name"]}>{one.kind} <code><Foreign text={one.value} longest={80} /></code>{one.site_id !== null && <span className={styles["soft"]}> at one site</span>}</td>
                <td>{one.state !== null && <Mark tone={one.state === "enabled" ? "good" : "calm"}>{one.state}</Mark>}{Object.keys(one.change).length > 0 && <span className={styles["soft"]}> another {Object.keys(one.change).join(", ")}</span>}</td>
                <td><Foreign text={one.reason} /><br /><span className={styles["soft"]}><Foreign text={one.created_by} longest={60} />, <Moment at={one.created_at} /></span></td>
                {mayWrite && <td><RemoveButton of={`${one.kind} ${one.value}`} then="Its rules are as their publisher has them." keys={["ids"]} remove={() => rest.deleteIdsOverride(one.id)} /></td>}
              </tr>
            ))}
          </Table>
        ))}
      </Answer>
    </Panel>
  );
}
