#pragma once

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "Subsystems/GameInstanceSubsystem.h"

#include "ambit/client.hpp"

#include "AmbitSubsystem.generated.h"

DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FAmbitEvent, const FString&, Name, const FString&,
                                             Json);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_ThreeParams(FAmbitObjectCame, int64, Id, int32, Kind,
                                               const FTransform&, Transform);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FAmbitObjectMoved, int64, Id, const FTransform&,
                                             Transform);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FAmbitObjectWent, int64, Id);

/**
 * A client of an Ambit server, for as long as the game instance lives. Each tick it takes what has
 * happened and one frame, and calls the delegates on the game thread: events, then what went, what
 * came, and where all others are. Transforms are Unreal's: centimetres, y to the south. An id that
 * goes without having come is that of a room-wide row.
 */
UCLASS()
class AMBITCLIENT_API UAmbitSubsystem : public UGameInstanceSubsystem
{
    GENERATED_BODY()

public:
    /** HOST:PORT. False if the client could not start; the log says why. */
    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool Connect(const FString& Server, const FString& PlayerName);

    UFUNCTION(BlueprintCallable, Category = "Ambit")
    void Disconnect();

    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool CreateRoom(const FString& RoomName, const FString& Game);

    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool JoinRoom(int64 Room);

    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool StartRoom();

    /** A command whose only field is a position, as a walk to a point of the world. */
    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool SendPosition(const FString& Command, const FVector& Position);

    /** A command with its values as a JSON list; positions are Ambit's: metres, y to the north. */
    UFUNCTION(BlueprintCallable, Category = "Ambit")
    bool SendCommand(const FString& Command, const FString& Values);

    UPROPERTY(BlueprintAssignable, Category = "Ambit")
    FAmbitEvent OnEvent;

    UPROPERTY(BlueprintAssignable, Category = "Ambit")
    FAmbitObjectCame OnObjectCame;

    UPROPERTY(BlueprintAssignable, Category = "Ambit")
    FAmbitObjectMoved OnObjectMoved;

    UPROPERTY(BlueprintAssignable, Category = "Ambit")
    FAmbitObjectWent OnObjectWent;

    /** For C++: all else that client.hpp has. Null without a client. */
    ambit::Client* Client();

    virtual void Initialize(FSubsystemCollectionBase& Collection) override;
    virtual void Deinitialize() override;

private:
    bool Tick(float Seconds);
    void HandleEvents();
    void ShowFrame();

    TOptional<ambit::Client> Running;
    FTSTicker::FDelegateHandle Ticker;
};
