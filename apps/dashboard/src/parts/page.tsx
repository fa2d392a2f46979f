import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./page.module.css";

/** The frame of a page: its title, which is the document's as well, what can be done, and its content. */
export function Page({ title, trail, note, actions, children, isFull = false }: {
  readonly title: string;
  /** Where the page is: above its title. */
  readonly trail?: ReactNode;
  readonly note?: ReactNode; readonly actions?: ReactNode; readonly children: ReactNode;
  /** Whether the content takes the whole height and scrolls by itself, as a grid does. */
  readonly isFull?: boolean;
}) {
  useEffect(() => {
    document.title = `${title} · Lanthorn`;
  }, [title]);
  return (
    <div className={`${styles["page"]} ${isFull ? styles["full"] : ""}`}>
      <header className={styles["head"]}>
        <div>{trail !== undefined && <p className={styles["trail"]}>{trail}</p>}<h1><bdi>{title}</bdi></h1>{note !== undefined && <p className={styles["note"]}>{note}</p>}</div>
        {actions !== undefined && <div className={styles["actions"]}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a page with a heading of its own. */
export function Panel({ title, actions, children, isFlush = false }: {
  readonly title: ReactNode; readonly actions?: ReactNode; readonly children: ReactNode;
  /** Whether the content reaches the panel's edges, as a table does. */
  readonly isFlush?: boolean;
}) {
  const [ref, isScrolled] = useOverflow();
  return (
    <section className={styles["panel"]}>
      <header className={styles["panelHead"]}><h2>{title}</h2>{actions}</header>
      <div ref={ref} className={isFlush ? styles["flush"] : styles["body"]} tabIndex={isScrolled ? 0 : undefined}>{children}</div>
    </section>
  );
}

/** Whether an element has more in it than it shows sideways: then a keyboard must reach it to scroll. */
function useOverflow() {
  const ref = useRef<HTMLDivElement>(null);
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setScrolled(element.scrollWidth > element.clientWidth));
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  });
  return [ref, isScrolled] as const;
}
