#include "AmbitSubsystem.h"

DEFINE_LOG_CATEGORY_STATIC(LogAmbit, Log, All);

namespace
{
constexpr double CentimetresPerMetre = 100.0;

std::string ToUtf8(const FString& Text)
{
    const FTCHARToUTF8 Converted(*Text);
    return std::string(Converted.Get(), static_cast<std::size_t>(Converted.Length()));
}

FString FromUtf8(std::string_view Text)
{
    const FUTF8ToTCHAR Converted(Text.data(), static_cast<int32>(Text.size()));
    return FString(Converted.Length(), Converted.Get());
}

/** Ambit's y points to the north and its axes are right-handed, so y is mirrored. */
FTransform ToTransform(const AmbitObject& Object)
{
    const float* Rotation = Object.rotation;
    const float* Position = Object.position;
    return FTransform(FQuat(-Rotation[0], Rotation[1], -Rotation[2], Rotation[3]),
                      FVector(Position[0], -Position[1], Position[2]) * CentimetresPerMetre);
}

template <typename T>
bool Succeeded(const ambit::Result<T>& Result, const TCHAR* What)
{
    if (Result.is_error())
    {
        UE_LOG(LogAmbit, Warning, TEXT("%s: %s (%s)"), What, *FromUtf8(Result.message()),
               *FromUtf8(Result.code()));
    }
    return Result.ok();
}
}

void UAmbitSubsystem::Initialize(FSubsystemCollectionBase& Collection)
{
    Super::Initialize(Collection);
    Ticker = FTSTicker::GetCoreTicker().AddTicker(
        FTickerDelegate::CreateUObject(this, &UAmbitSubsystem::Tick));
}

void UAmbitSubsystem::Deinitialize()
{
    FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
    Disconnect();
    Super::Deinitialize();
}

bool UAmbitSubsystem::Connect(const FString& Server, const FString& PlayerName)
{
    Disconnect();
    ambit::Options Options;
    Options.server = ToUtf8(Server);
    Options.name = ToUtf8(PlayerName);
    ambit::Result<ambit::Client> Started = ambit::Client::start(Options);
    if (!Succeeded(Started, TEXT("start")))
    {
        return false;
    }
    Running.Emplace(MoveTemp(*Started));
    return true;
}

void UAmbitSubsystem::Disconnect()
{
    // Its destructor leaves the room.
    Running.Reset();
}

bool UAmbitSubsystem::CreateRoom(const FString& RoomName, const FString& Game)
{
    const std::string Name = ToUtf8(RoomName);
    const std::string GameName = ToUtf8(Game);
    ambit::NewRoom Room;
    Room.name = Name;
    Room.game = GameName;
    return Running && Succeeded(Running->create_room(Room), TEXT("create_room"));
}

bool UAmbitSubsystem::JoinRoom(int64 Room)
{
    return Running && Succeeded(Running->join_room(static_cast<std::uint64_t>(Room)),
                                TEXT("join_room"));
}

bool UAmbitSubsystem::StartRoom()
{
    return Running && Succeeded(Running->start_room(), TEXT("start_room"));
}

bool UAmbitSubsystem::SendPosition(const FString& Command, const FVector& Position)
{
    if (!Running)
    {
        return false;
    }
    const auto Index = Running->find(AMBIT_COMMAND, ToUtf8(Command));
    const FVector3f Metres(Position / CentimetresPerMetre);
    return Succeeded(Index, TEXT("find")) &&
           Succeeded(Running->send(*Index, {ambit::field::position(Metres.X, -Metres.Y, Metres.Z)}),
                     TEXT("send"));
}

bool UAmbitSubsystem::SendCommand(const FString& Command, const FString& Values)
{
    return Running &&
           Succeeded(Running->send(ToUtf8(Command), ToUtf8(Values)), TEXT("send"));
}

ambit::Client* UAmbitSubsystem::Client()
{
    return Running ? &*Running : nullptr;
}

bool UAmbitSubsystem::Tick(float)
{
    HandleEvents();
    ShowFrame();
    return true;
}

void UAmbitSubsystem::HandleEvents()
{
    // A delegate may disconnect, so the client is looked for each time.
    while (Running)
    {
        const ambit::Result<ambit::Event> Event = Running->next_event();
        if (!Succeeded(Event, TEXT("next_event")))
        {
            return;
        }
        OnEvent.Broadcast(FromUtf8(Event->name), FromUtf8(Event->json));
    }
}

void UAmbitSubsystem::ShowFrame()
{
    if (!Running)
    {
        return;
    }
    const ambit::Result<ambit::Frame> Frame = Running->frame();
    if (!Succeeded(Frame, TEXT("frame")))
    {
        return;
    }
    // A delegate may disconnect, and the frame ends with the client: it is read before they run.
    TArray<int64> Went;
    for (const std::uint32_t Id : Frame->went())
    {
        Went.Add(Id);
    }
    struct FSeen
    {
        int64 Id;
        int32 Kind;
        FTransform Transform;
    };
    TArray<FSeen> Came;
    TArray<FSeen> Moved;
    // In the order of the objects; room-wide rows, which have no place in the world, are the last.
    const std::uint32_t* NextCame = Frame->came().begin();
    for (const AmbitObject& Object : Frame->in_sight())
    {
        const bool bCame = NextCame != Frame->came().end() && *NextCame == Object.id;
        NextCame += bCame ? 1 : 0;
        (bCame ? Came : Moved)
            .Add({Object.id, static_cast<int32>(Object.kind), ToTransform(Object)});
    }
    for (const int64 Id : Went)
    {
        OnObjectWent.Broadcast(Id);
    }
    for (const FSeen& Seen : Came)
    {
        OnObjectCame.Broadcast(Seen.Id, Seen.Kind, Seen.Transform);
    }
    for (const FSeen& Seen : Moved)
    {
        OnObjectMoved.Broadcast(Seen.Id, Seen.Transform);
    }
}
