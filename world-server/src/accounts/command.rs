//! The subcommands `accounts`, `backup` and `restore`: what operators do with the store, also while
//! servers use it.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use ambit_host::process::USAGE_EXIT_STATUS;
use ambit_lobby::is_player_name;
use ambit_proto::ids::AccountId;
use ambit_proto::standing::OperatorRole;
use ambit_store::{
    BanNote, BanScope, BanTarget, BanTerm, NameOwner, ServerBan, Store, StorePlace, StoreTables,
};
use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Parser, Subcommand};

use super::unix_time;
use crate::config::{data_dir_or_default, store_in};

/// The names of the subcommands.
pub(crate) const SUBCOMMANDS: [&str; 3] = ["accounts", "backup", "restore"];

/// What operators do with what outlives rooms: accounts, reserved names and bans. Servers may use
/// the store meanwhile; within a second they know what has changed.
#[derive(Parser, Debug)]
#[command(name = "world-server", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    order: StoreOrder,
}

#[derive(Args, Debug)]
struct PlaceArguments {
    /// The store, as the server has it: a file, or the URL of a PostgreSQL database.
    #[arg(
        long,
        global = true,
        value_name = "FILE|URL",
        env = "AMBIT_STORE",
        hide_env_values = true
    )]
    store: Option<StorePlace>,

    /// The directory of the server's files, if the store is in it.
    #[arg(long, global = true, value_name = "DIR", env = "AMBIT_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum StoreOrder {
    /// Looks at accounts, bans them, reserves names for them, exports and deletes what is stored.
    Accounts {
        #[command(flatten)]
        place: PlaceArguments,
        #[command(subcommand)]
        order: AccountOrder,
    },
    /// Copies the store into a new file, as it is at one moment. Servers may use it meanwhile.
    Backup {
        #[command(flatten)]
        place: PlaceArguments,
        /// The file to write; a file of SQLite, whatever the store is.
        file: PathBuf,
    },
    /// Fills an empty store with a copy: after a loss, or to move from SQLite to PostgreSQL.
    Restore {
        #[command(flatten)]
        place: PlaceArguments,
        /// What `backup` has written.
        file: PathBuf,
    },
}

#[derive(Subcommand, Debug)]
enum AccountOrder {
    /// Prints all that is stored of an account, as JSON.
    Export {
        /// 32 hexadecimal digits, as a server's log and players' clients show them.
        #[arg(value_parser = parse_account)]
        account: AccountId,
    },
    /// Deletes all that is stored of an account, but bans.
    Delete {
        #[arg(value_parser = parse_account)]
        account: AccountId,
    },
    /// Bans an account, a name or an address: its players are put out, and come in no more.
    Ban {
        /// An account; or `name:` and a name, and those that look like it; or `address:` and an
        /// address or a network. Of an IPv6 address its /64 is banned.
        target: BanTarget,
        /// Bars from chat alone.
        #[arg(long)]
        chat: bool,
        /// For how many hours; without this it has no end.
        #[arg(long)]
        hours: Option<u32>,
        /// For the player.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Ends a ban, from chat, too.
    Unban {
        /// As of `ban`.
        target: BanTarget,
    },
    /// Reserves a name, and those that look like it, for an account.
    Reserve {
        name: String,
        #[arg(value_parser = parse_account)]
        account: AccountId,
    },
    /// Makes a reserved name free.
    Release { name: String },
    /// Trusts an account with a role: games are told, and decide what it may do.
    Role {
        #[arg(value_parser = parse_account)]
        account: AccountId,
        /// `look`, `moderate`, `operate` or `none`.
        role: String,
    },
    /// Prints the account of a name to sign in with (`ann#48213`).
    Find { login: String },
    /// Prints all reserved names, all bans and all roles.
    List,
}

/// Runs a subcommand. The first argument is the program's name, the second the subcommand's.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(USAGE_EXIT_STATUS)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let mut out = String::new();
    let done = carry_out(arguments.order, &mut out);
    let written = io::stdout().write_all(out.as_bytes());
    match done.and_then(|()| Ok(written?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "world-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out(order: StoreOrder, out: &mut String) -> anyhow::Result<()> {
    use std::fmt::Write as _;
    match order {
        StoreOrder::Accounts { place, order } => {
            let runtime = tokio::runtime::Builder::new_current_thread().build()?;
            let store = Store::open(&place.find_existing()?)?;
            runtime.block_on(carry_out_with(&store, order, out))
        }
        StoreOrder::Backup { place, file } => {
            let rows = Store::back_up(&place.find_existing()?, &file)?.rows;
            Ok(writeln!(out, "{rows} rows copied to {}", file.display())?)
        }
        StoreOrder::Restore { place, file } => {
            let place = place.find();
            let rows = Store::restore(&place, &file)?.rows;
            Ok(writeln!(out, "{rows} rows restored into {place}")?)
        }
    }
}

async fn carry_out_with(
    store: &Store,
    order: AccountOrder,
    out: &mut String,
) -> anyhow::Result<()> {
    use std::fmt::Write as _;
    let now = unix_time();
    match order {
        AccountOrder::Export { account } => {
            let data = store.run(move |tables| tables.export(account)).await?;
            writeln!(out, "{}", serde_json::to_string_pretty(&data)?)?;
        }
        AccountOrder::Delete { account } => {
            let rows = store.run(move |tables| tables.erase(account)).await?;
            writeln!(out, "{rows} rows of account {account} deleted")?;
        }
        AccountOrder::Ban { target, chat, hours, reason } => {
            if let BanTarget::Name(name) = &target {
                check_name(name)?;
            }
            let length = hours.map(|hours| Duration::from_hours(hours.into()).as_secs() as i64);
            let term = BanTerm { reason, ends_at: length.map(|length| now + length) };
            let scope = if chat { BanScope::Chat } else { BanScope::Play };
            writeln!(out, "{target} is banned from {}", scope.name())?;
            let ban = ServerBan { target, scope, term, note: BanNote::default() };
            store.run(move |tables| tables.ban(&ban, now)).await?;
        }
        AccountOrder::Unban { target } => {
            let banned = target.clone();
            let unban = move |tables: &mut StoreTables<'_>| {
                let from_play = tables.unban(&banned, BanScope::Play)?;
                Ok(tables.unban(&banned, BanScope::Chat)? || from_play)
            };
            if !store.run(unban).await? {
                bail!("{target} is not banned; `world-server accounts list` shows bans");
            }
            writeln!(out, "{target} is not banned any more")?;
        }
        AccountOrder::Reserve { name, account } => {
            check_name(&name)?;
            let reserved = name.clone();
            let owner = store.run(move |tables| tables.reserve(&reserved, account, now)).await?;
            if let Some(NameOwner(owner)) = owner {
                bail!("{name:?} is reserved for account {owner} already: release it first");
            }
            writeln!(out, "{name:?} is reserved for account {account}")?;
        }
        AccountOrder::Release { name } => {
            let released = name.clone();
            if !store.run(move |tables| tables.release(&released)).await? {
                bail!("{name:?} is not reserved; `world-server accounts list` shows names");
            }
            writeln!(out, "{name:?} is free")?;
        }
        AccountOrder::Role { account, role } => {
            let given = (role != "none").then(|| role.parse::<OperatorRole>()).transpose();
            let given = given.map_err(|expected| anyhow!("{expected}, or `none`, not {role:?}"))?;
            store.run(move |tables| tables.set_role(account, given, now)).await?;
            writeln!(out, "account {account} has the role {role} from its next join on")?;
        }
        AccountOrder::Find { login } => {
            let sought = login.clone();
            let found = store.run(move |tables| tables.find_password(&sought)).await?;
            let found = found.with_context(|| format!("no account signs in as {login:?}"))?;
            writeln!(out, "{}", found.account)?;
        }
        AccountOrder::List => {
            let names = store.names().await?;
            for (name, account) in &names.reserved {
                writeln!(out, "name  {account}  {name}")?;
            }
            for ServerBan { target, scope, term: BanTerm { reason, ends_at }, note } in &names.bans
            {
                let hours = ends_at.map(|end| (end - now).max(0) / 3_600);
                let until = hours.map_or_else(|| "for ever".to_owned(), |left| format!("{left} h"));
                let scope = scope.name();
                let player = Some(&note.player[..]).filter(|name| !name.is_empty());
                let player = player.map_or_else(String::new, |name| format!("  {name}"));
                writeln!(out, "ban   {target}{player}  from {scope}  {until}  {reason}")?;
            }
            for (account, role) in &names.roles {
                writeln!(out, "role  {account}  {role}")?;
            }
        }
    }
    Ok(())
}

fn check_name(name: &str) -> anyhow::Result<()> {
    if !is_player_name(name) {
        bail!("no player can be called {name:?}: a name has 1 to 24 characters");
    }
    Ok(())
}

impl PlaceArguments {
    fn find(self) -> StorePlace {
        self.store.unwrap_or_else(|| store_in(&data_dir_or_default(self.data_dir)))
    }

    /// Refuses a file that is not there: a wrong path would give an empty store.
    fn find_existing(self) -> anyhow::Result<StorePlace> {
        match self.find() {
            StorePlace::Memory => bail!("a store in memory is in the server alone"),
            StorePlace::File(path) if !path.is_file() => bail!(
                "there is no store at {}: name it with `--store`, or its directory with \
                 `--data-dir`",
                path.display()
            ),
            place => Ok(place),
        }
    }
}

fn parse_account(text: &str) -> Result<AccountId, String> {
    text.parse().map_err(|_| "an account is 32 hexadecimal digits".to_owned())
}
