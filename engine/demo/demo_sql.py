"""The SQL of the demo: how its tables are made, and the merges that it offers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.sql.names import quote, string

#: Raise it when the tables change: demos built before are then built anew.
FORMAT = 2

SEED = 20261121
DAYS = 40
FIRST_DAY = "2026-10-12"  # a Monday; the last day is 2026-11-20, a Friday
FIRST_ORDER = 700_000_000
FIRST_CUSTOMER = 10_000


@dataclass(frozen=True)
class Scale:
    """How big the demo is; 1.0 gives 2,000,000 orders and 200,000 customers."""

    factor: float

    def rows(self, count: int) -> int:
        return max(1, round(count * self.factor))

    @property
    def per_day(self) -> int:
        """Orders of a weekday; a weekend day has 38/54 of them. A multiple of 54, so the sum is exact."""
        return 54 * self.rows(1000)

    @property
    def customers(self) -> int:
        return self.rows(200_000)


@dataclass(frozen=True)
class Table:
    """One table: its bare name, the statement that creates it, and those that fill it."""

    name: str
    create: str
    fill: tuple[str, ...]


ORDER_COLUMNS = """
  order_id BIGINT NOT NULL COMMENT 'Number of the order, rising with time',
  customer_id BIGINT COMMENT 'Who ordered',
  order_date DATE COMMENT 'Day of the order, in the shop''s time zone',
  status STRING COMMENT 'placed, paid, shipped, delivered, returned or cancelled',
  amount DECIMAL(12,2) COMMENT 'Total with tax, in currency',
  currency STRING COMMENT 'ISO 4217',
  items INT COMMENT 'Pieces ordered',
  channel STRING COMMENT 'web, app, store or phone',
  city STRING COMMENT 'Where it is sent to',
  coupon STRING COMMENT 'NULL for most',
  shipped_at TIMESTAMP COMMENT 'NULL until it leaves the warehouse',
  updated_at TIMESTAMP COMMENT 'Last change at the source'"""

CUSTOMER_COLUMNS = """
  customer_id BIGINT NOT NULL,
  name STRING COMMENT 'Given and family name',
  email STRING,
  city STRING,
  segment STRING COMMENT 'new, regular, gold or dormant',
  points INT COMMENT 'Loyalty points',
  newsletter BOOLEAN,
  since DATE,
  updated_at TIMESTAMP"""

CITIES = (
    *("Berlin EUR", "Wien EUR", "Paris EUR", "Lyon EUR", "Madrid EUR", "Lisboa EUR", "Milano EUR"),
    *("Kraków PLN", "Warszawa PLN", "Praha CZK", "Zürich CHF", "Genève CHF", "London GBP", "Leeds GBP"),
    *("Oslo NOK", "Malmö SEK", "København DKK", "Helsinki EUR", "Athína EUR", "Dublin EUR"),
)
GIVEN = (
    *("Anna", "Luis", "Mia", "Noah", "Zoë", "Émile", "Sofia", "Jan"),
    *("Olga", "Ben", "Chiara", "Lars", "Inês", "Paweł", "Maud", "Tom"),
)
FAMILY = (
    *("Novák", "García", "Müller", "Rossi", "Kowalska", "Dubois", "Hansen"),
    *("Silva", "O'Neill", "Virtanen", "Weber", "Moreau", "Lindqvist", "Papadaki"),
)
CHANNELS = ("web", "web", "web", "app", "app", "store", "phone")
COUPONS = ("WELCOME10", "AUTUMN", "FREESHIP")
SEGMENTS = ("new", "regular", "regular", "regular", "gold", "dormant")
DV_AND_CDF = "TBLPROPERTIES ('delta.enableDeletionVectors'='true', 'delta.enableChangeDataFeed'='true')"


def tables(schema: str, scale: Scale) -> tuple[Table, ...]:
    """The tables of the demo in the order in which they are made: a feed may read what came before."""
    sql = _Writer(schema, scale)
    return (
        sql.orders(),
        sql.customers(),
        sql.daily_feed(),
        sql.retried_feed(),
        sql.corrections(),
        sql.customer_snapshot(),
        sql.late_orders(),
        sql.nightly_feed(),
    )


class _Writer:
    """Writes the statements for one schema and scale."""

    def __init__(self, schema: str, scale: Scale) -> None:
        self.schema = quote(schema)
        self.scale = scale

    def draw(self, salt: str, below: int, key: str = "id") -> str:
        """A number in [0, below) that depends on the row and the seed only."""
        return f"pmod(xxhash64({key}, {SEED}L, '{salt}'), {below})"

    def pick(self, salt: str, options: tuple[str, ...], key: str = "id") -> str:
        listed = ", ".join(map(string, options))
        return f"element_at(array({listed}), cast({self.draw(salt, len(options), key)} AS INT) + 1)"

    def create(self, name: str, columns: str, comment: str, *, using: str = "DELTA", more: str = "") -> str:
        return f"CREATE TABLE {self.schema}.{name} ({columns}) USING {using} {more} COMMENT '{comment}'"

    def filled(self, name: str, comment: str, select: str) -> Table:
        """A small Delta table in one commit, one file."""
        create = f"CREATE OR REPLACE TABLE {self.schema}.{name} USING DELTA COMMENT '{comment}'"
        return Table(name, f"{create} AS SELECT /*+ REPARTITION(1) */ * FROM ({select})", ())

    def insert(self, name: str, select: str) -> str:
        return f"INSERT INTO {self.schema}.{name} {select}"

    def new_orders(self, ids: str, keep: str = "TRUE") -> str:
        """Orders as they are first written; ``ids`` is a relation with id, counted from the first order."""
        per_day = self.scale.per_day
        place = self.pick("city", CITIES)
        age = f"({DAYS} - day)"
        return f"""
            SELECT {FIRST_ORDER}L + id AS order_id,
              {FIRST_CUSTOMER}L +
                cast(pow({self.draw("who", 1_000_000)} / 1e6, 2) * {self.scale.customers} AS BIGINT)
                AS customer_id,
              date_add(DATE'{FIRST_DAY}', day) AS order_date,
              CASE WHEN {self.draw("lost", 100)} < 3 THEN 'cancelled'
                WHEN {age} > 12 AND {self.draw("back", 100)} < 6 THEN 'returned'
                WHEN {age} > 3 + {self.draw("slow", 5)} THEN 'delivered'
                WHEN {age} > 1 + {self.draw("slow", 3)} THEN 'shipped'
                WHEN {self.draw("paid", 10)} < 7 THEN 'paid' ELSE 'placed' END AS status,
              cast(4.90 + pow({self.draw("amount", 1_000_000)} / 1e6, 4) * 1500 AS DECIMAL(12,2)) AS amount,
              split(place, ' ')[1] AS currency,
              cast(1 + pow({self.draw("items", 1000)} / 1e3, 3) * 12 AS INT) AS items,
              {self.pick("channel", CHANNELS)} AS channel,
              split(place, ' ')[0] AS city,
              CASE WHEN {self.draw("coupon", 9)} = 0 THEN {self.pick("code", COUPONS)} END AS coupon,
              CASE WHEN {age} > 2 + {self.draw("slow", 3)}
                THEN placed_at + INTERVAL 30 HOURS END AS shipped_at,
              placed_at + make_interval(0, 0, 0, 0, 0, cast({self.draw("touch", 240)} AS INT)) AS updated_at
            FROM (SELECT id, day, {place} AS place,
                to_timestamp(date_add(DATE'{FIRST_DAY}', day))
                  + make_interval(0, 0, 0, 0, 0, 0, cast({self.draw("time", 86_000)} AS INT)) AS placed_at
              FROM (SELECT id, cast(id div {per_day} AS INT) AS day FROM {ids})
              WHERE {keep})"""

    def orders(self) -> Table:
        # One slice of ids is one day, so each task writes one file of one partition, without a shuffle.
        # Weekends are quieter: 30 x 54 + 10 x 38 = 2000 thousand orders.
        ids = f"range(0, {DAYS * self.scale.per_day}, 1, {DAYS})"
        return Table(
            "orders",
            self.create(
                "orders",
                ORDER_COLUMNS,
                "Orders of the shop, a partition a day",
                more="PARTITIONED BY (order_date)",
            ),
            (self.insert("orders", self.new_orders(ids, "day % 7 < 5 OR id % 54 < 38")),),
        )

    def customers(self) -> Table:
        count = self.scale.customers
        return Table(
            "customers",
            self.create(
                "customers",
                CUSTOMER_COLUMNS,
                "Customers of the shop",
                more=DV_AND_CDF,
            ),
            (
                self.insert("customers", self.customer_rows(f"range(0, {count}, 1, 4)")),
                # Rows that asked to be forgotten: marked in deletion vectors, their files stay.
                f"DELETE FROM {self.schema}.customers WHERE {self.draw('forget', 90, 'customer_id')} = 0",
            ),
        )

    def customer_rows(self, ids: str) -> str:
        return f"""
            SELECT {FIRST_CUSTOMER}L + id AS customer_id, concat(given, ' ', family) AS name,
              concat(lower(translate(concat(given, '.', family), ' \\'', '')), id, '@example.com') AS email,
              split({self.pick("home", CITIES)}, ' ')[0] AS city,
              {self.pick("segment", SEGMENTS)} AS segment,
              cast({self.draw("points", 5000)} AS INT) AS points, {self.draw("mail", 3)} = 0 AS newsletter,
              date_sub(DATE'2026-11-20', cast({self.draw("since", 2500)} AS INT)) AS since,
              TIMESTAMP'2026-11-01 00:00:00'
                + make_interval(0, 0, 0, 0, 0, 0, cast({self.draw("seen", 1_600_000)} AS INT)) AS updated_at
            FROM (SELECT id, {self.pick("given", GIVEN)} AS given,
              {self.pick("family", FAMILY)} AS family FROM {ids})"""

    def feed_columns(self) -> str:
        return ORDER_COLUMNS.replace(" NOT NULL", "")

    def moved_on(self, keep: str, later: str) -> str:
        """Orders that are there, one step further, changed ``later`` after their last change."""
        return f"""
            SELECT order_id, customer_id, order_date,
              CASE status WHEN 'placed' THEN 'paid' WHEN 'paid' THEN 'shipped' WHEN 'shipped' THEN 'delivered'
                ELSE status END AS status,
              amount, currency, items, channel, city, coupon,
              CASE WHEN status = 'paid' THEN TIMESTAMP'2026-11-21 04:00:00' ELSE shipped_at END AS shipped_at,
              updated_at + {later} AS updated_at
            FROM {self.schema}.orders WHERE {keep}"""

    def daily_feed(self) -> Table:
        # Parquet, as feeds arrive: no table version pins it, so Delta materializes it.
        fresh, start = self.scale.rows(9_000), DAYS * self.scale.per_day
        return Table(
            "orders_feed",
            self.create("orders_feed", self.feed_columns(), "Changes of the last days, and today", using="PARQUET"),
            (
                self.insert(
                    "orders_feed",
                    "SELECT /*+ REPARTITION(2) */ * FROM ("
                    + self.moved_on(
                        f"order_date >= DATE'2026-11-18' AND {self.draw('daily', 1000, 'order_id')} < 37",
                        "INTERVAL 1 DAY",
                    )
                    + " UNION ALL "
                    + self.new_orders(f"range({start}, {start + fresh}, 1, 2)")
                    + ")",
                ),
            ),
        )

    def retried_feed(self) -> Table:
        # A producer that sent some changes twice: the second time with a later state.
        some = f"order_date >= DATE'2026-11-17' AND {self.draw('retry', 1000, 'order_id')} < 20"
        again = f"{some} AND {self.draw('again', 1000, 'order_id')} < 90"
        once, twice = self.moved_on(some, "INTERVAL 2 HOURS"), self.moved_on(again, "INTERVAL 5 HOURS")
        return self.filled("orders_retried", "Changes, some of them sent twice", f"{once} UNION ALL {twice}")

    def corrections(self) -> Table:
        # A few rows of every day: each of them costs its whole file.
        return self.filled(
            "amount_corrections",
            "Amounts that were booked wrong",
            "SELECT order_id, cast(amount * 0.98 AS DECIMAL(12,2)) AS amount, 'tax rate' AS reason"
            f" FROM {self.schema}.orders WHERE {self.draw('fix', 1000, 'order_id')} < 15",
        )

    def customer_snapshot(self) -> Table:
        count = self.scale.customers
        changed = f"{self.draw('moved', 1000, 'customer_id')} < 20"
        moved_to = self.pick("moved_to", ("Berlin", "Paris", "Oslo"), "customer_id")
        return self.filled(
            "customers_snapshot",
            "All customers, as the CRM has them",
            f"""SELECT customer_id, name, email,
                CASE WHEN {changed} THEN {moved_to} ELSE city END AS city, segment,
                CASE WHEN {changed} THEN points + 100 ELSE points END AS points, newsletter, since,
                CASE WHEN {changed} THEN TIMESTAMP'2026-11-21 01:30:00' ELSE updated_at END AS updated_at
              FROM {self.schema}.customers WHERE {self.draw("gone", 1000, "customer_id")} >= 8
              UNION ALL
              {self.customer_rows(f"range({count}, {count + self.scale.rows(900)}, 1, 1)")}""",
        )

    def late_orders(self) -> Table:
        # The shops' tills report late, and some of it for the second time.
        start, fresh = (DAYS + 1) * self.scale.per_day, self.scale.rows(4_000)
        again = f"{self.draw('till', 100, 'order_id')} < 15"
        late = self.new_orders(f"range({start}, {start + fresh}, 1, 1)").replace(
            f"date_add(DATE'{FIRST_DAY}', day) AS order_date", "DATE'2026-11-20' AS order_date"
        )
        return self.filled(
            "orders_late",
            "What the tills report late",
            f"{late} UNION ALL SELECT * FROM {self.schema}.orders"
            f" WHERE order_date = DATE'2026-11-20' AND channel = 'store' AND {again}",
        )

    def nightly_feed(self) -> Table:
        # What Delta takes without a complaint. Of the orders that are there: changed ones, some of a day that the merge
        # leaves out; then such as they are already; then older ones. New ones, some twice, some without a day.
        start, fresh = (DAYS + 2) * self.scale.per_day, self.scale.rows(2_000)
        new = self.new_orders(f"range({start}, {start + fresh}, 1, 1)")
        again = self.new_orders(f"range({start}, {start + self.scale.rows(100)}, 1, 1)")
        without = self.new_orders(f"range({start + fresh}, {start + fresh + self.scale.rows(50)}, 1, 1)")
        day = f"date_add(DATE'{FIRST_DAY}', day) AS order_date"
        today, never = "DATE'2026-11-21' AS order_date", "CAST(NULL AS DATE) AS order_date"
        return self.filled(
            "orders_nightly",
            "Changes of a night, as a careless producer sends them",
            f"""SELECT order_id, customer_id, order_date, IF(n < 10, 'delivered', status) AS status, amount, currency,
                items, channel, city, coupon, shipped_at, updated_at + CASE WHEN n < 10 THEN INTERVAL 3 HOURS
                  WHEN n < 15 THEN INTERVAL 0 HOURS ELSE INTERVAL -2 HOURS END AS updated_at
              FROM (SELECT *, {self.draw("night", 1000, "order_id")} AS n FROM {self.schema}.orders
                WHERE order_date >= DATE'2026-11-18' OR order_date = DATE'2026-11-10')
              WHERE n < IF(order_date = DATE'2026-11-10', 10, 20)
              UNION ALL {new.replace(day, today)} UNION ALL {again.replace(day, today)}
              UNION ALL {without.replace(day, never)}""",
        )


STATEMENTS = {
    "1-daily-upsert.sql": """\
-- The daily upsert: changes of the last three days, and today's new orders.
-- Only files of the last days can be rewritten; the date in ON keeps all others from being read at all.
MERGE INTO {schema}.orders AS t
USING {schema}.orders_feed AS s
ON t.order_id = s.order_id AND t.order_date >= DATE'2026-11-18'
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
""",
    "2-duplicate-keys.sql": """\
-- A producer sent some changes twice. Delta would find out while running, and fail;
-- the plan names the keys before anything runs.
MERGE INTO {schema}.orders AS t
USING {schema}.orders_retried AS s
ON t.order_id = s.order_id AND t.order_date = s.order_date
WHEN MATCHED THEN UPDATE SET status = s.status, shipped_at = s.shipped_at, updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT *
""",
    "3-rewrite-everything.sql": """\
-- Thirty thousand small corrections, spread over all days: nearly every file would be written again.
MERGE INTO {schema}.orders AS t
USING {schema}.amount_corrections AS s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET amount = s.amount, updated_at = TIMESTAMP'2026-11-21 06:00:00'
""",
    "4-delete-and-sync.sql": """\
-- Make the customers equal to the CRM's snapshot: change, add, and delete those who are gone from it.
-- The table has deletion vectors: rows are marked, few files are written again.
MERGE INTO {schema}.customers AS t
USING {schema}.customers_snapshot AS s
ON t.customer_id = s.customer_id
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
WHEN NOT MATCHED BY SOURCE THEN DELETE
""",
    "5-insert-only.sql": """\
-- Orders that the tills report late. Some are here already: only the new ones are added.
MERGE INTO {schema}.orders AS t
USING {schema}.orders_late AS s
ON t.order_id = s.order_id AND t.order_date = s.order_date
WHEN NOT MATCHED THEN INSERT *
""",
    "6-silent-faults.sql": """\
-- A night's changes. Delta would not complain: the plan warns of keys that are NULL, or come twice, or exist already,
-- of updates that change nothing, and of some that set rows back.
MERGE INTO {schema}.orders AS t
USING {schema}.orders_nightly AS s
ON t.order_id = s.order_id AND t.order_date = s.order_date AND t.order_date >= DATE'2026-11-18'
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *
""",
}
