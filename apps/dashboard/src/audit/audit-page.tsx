import type { AuditRecord } from "@lanthorn/contract";
import { getRouteApi } from "@tanstack/react-router";
import filters from "../fields/filters.module.css";
import { Button } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { SearchBox } from "../parts/search-box.tsx";
import { Table } from "../fields/table.tsx";
import { Scoped } from "../session/scoped.tsx";
import { useSession } from "../session/use-session.ts";
import { Answer, Empty } from "../states/answer.tsx";
import { useCursorList } from "../states/use-list.ts";
import { Foreign, showForeign } from "../texts/foreign.tsx";
import { Moment } from "../texts/moment.tsx";
import { words } from "../texts/words.ts";
import styles from "./audit-page.module.css";
import { changesOf, objectOf } from "./changes.ts";

const route = getRouteApi("/settings/audit");
const PAGE_SIZE = 100;
const FILTERS = [
  ["actor", "Who", "Who: whole name or id", 255], ["action", "What was done", "What: site, user.update", 64], ["target", "Of which object", "Object: type or id", 255],
] as const;

/** Who changed what and when, with the object before and after. Nobody can change it. */
export function AuditPage() {
  return (
    <Page trail="Settings" title="Audit log" note="Who did what to which object, from where; the newest first. Secrets read [secret].">
      <Scoped scope="audit:read"><Records /></Scoped>
    </Page>
  );
}

function Records() {
  const { rest } = useSession();
  const { actor, action, target } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = { actor, action, target };
  const records = useCursorList({
    queryKey: ["audit", filter], read: (cursor) => rest.listAuditRecords({ ...filter, per_page: PAGE_SIZE, cursor }),
  });
  return (
    <>
      <div className={filters["filters"]} role="search">
        {FILTERS.map(([name, label, placeholder, longest]) => (
          <SearchBox
            key={name} label={label} placeholder={placeholder} longest={longest} given={filter[name]}
            onChange={(text) => void navigate({ search: (before) => ({ ...before, [name]: text || undefined }), replace: true })}
          />
        ))}
      </div>
      <section className={styles["log"]} aria-label="Records">
        <Answer query={records}>
          {({ list }) => (list.length === 0 ? <Empty title="The filter leaves nothing">Names and ids match whole; an action also by its first part.</Empty> : (
            <>
              <ul>{list.map((record) => <Record key={record.id} record={record} />)}</ul>
              {records.hasNextPage && <p className={styles["more"]}><Button onClick={() => void records.fetchNextPage()} disabled={records.isFetchingNextPage}>Show more</Button></p>}
            </>
          ))}
        </Answer>
      </section>
    </>
  );
}

function Record({ record }: { readonly record: AuditRecord }) {
  const { actor, action, target, at } = record;
  const changes = changesOf(record);
  const line = (
    <>
      <span className={styles["when"]}><Moment at={at} exact /></span>
      <span className={styles["who"]}><strong><Foreign text={actor.name || actor.type} longest={60} /></strong> <small>{actor.type}{actor.address !== "" && `, ${showForeign(actor.address, 60)}`}</small></span>
      <span className={styles["what"]}><code>{showForeign(action, 64)}</code> <small title={showForeign(target.id, 100)}>{!action.startsWith(target.type) && `${words(showForeign(target.type, 64))} `}<Foreign text={objectOf(record)} longest={100} /></small></span>
    </>
  );
  if (changes.length === 0) return <li className={styles["line"]}>{line}</li>;
  return (
    <li>
      <details>
        <summary className={styles["line"]}>{line}</summary>
        <Table heads={["Field", "Before", "After"]}>{changes.map(({ name, before, after }) => <tr key={name}><td><code>{showForeign(name, 80)}</code></td><td><Foreign text={before} longest={500} /></td><td><Foreign text={after} longest={500} /></td></tr>)}</Table>
      </details>
    </li>
  );
}
