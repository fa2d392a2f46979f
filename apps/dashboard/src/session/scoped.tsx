import type { Scope } from "@lanthorn/contract";
import type { ReactNode } from "react";
import { Answer, Empty } from "../states/answer.tsx";
import { useCaller } from "./use-session.ts";

/** What only those see who have a scope; others read which one they lack, and nothing is asked for. */
export function Scoped({ scope, children }: { readonly scope: Scope; readonly children: ReactNode }) {
  return (
    <Answer query={useCaller()}>
      {({ scopes }) => (scopes.includes(scope) ? children : (
        <Empty title="You may not see this"><p>It needs the scope <code>{scope}</code>. Ask an administrator for it.</p></Empty>
      ))}
    </Answer>
  );
}
