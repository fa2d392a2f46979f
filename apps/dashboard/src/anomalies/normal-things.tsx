import { useQuery } from "@tanstack/react-query";
import { Panel } from "../parts/page.tsx";
import { Table } from "../fields/table.tsx";
import { RemoveButton } from "../states/removal.tsx";
import styles from "../sensors/sensors.module.css";
import { useMay, useSession } from "../session/use-session.ts";
import { Answer, Nothing } from "../states/answer.tsx";
import { Foreign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";

/** What people said is normal. */
export function NormalThings({ siteId }: { readonly siteId: string | undefined }) {
  const { rest } = useSession();
  const mayWrite = useMay("sensors:write");
  const said = useQuery({ queryKey: ["anomalies", "feedback", siteId], queryFn: () => rest.listAnomalyFeedback({ site_id: siteId, per_page: 1000 }) });
  return (
    <Panel title="Marked as normal" isFlush>
      <Answer query={said}>
        {({ data }) => (data.length === 0 ? <Nothing>Nothing is marked as normal yet.</Nothing> : (
          <Table heads={["What", "For whom", "Why", "Until", mayWrite && "Action"]}>
            {data.map((one) => {
              const [kind, whom] = [words(one.kind), one.device ?? one.group ?? ""];
              return (
                <tr key={one.id}>
                  <td>{kind}</td><td className={styles["name"]}><Foreign text={whom} longest={80} /></td>
                  <td><Foreign text={one.reason || "–"} /><span className={styles["beside"]}><Foreign text={one.created_by} longest={60} />, <Moment at={one.created_at} /></span></td>
                  <td>{one.until === null ? "always" : <Moment at={one.until} exact />}</td>
                  {mayWrite && <td><RemoveButton of={`${kind} of ${whom}`} then="It raises alerts again." keys={["anomalies"]} remove={() => rest.deleteAnomalyFeedback(one.id)} /></td>}
                </tr>
              );
            })}
          </Table>
        ))}
      </Answer>
    </Panel>
  );
}
